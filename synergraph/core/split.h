#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace synergraph {

/// Splits a text at every separator and keeps empty parts. A text without a separator is one part.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace synergraph
