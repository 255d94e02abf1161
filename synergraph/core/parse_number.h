#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace synergraph {

/// Reads all of `text` as a number, whatever the locale; false if it is anything else or out of
/// range.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && !text.empty();
}

}  // namespace synergraph
