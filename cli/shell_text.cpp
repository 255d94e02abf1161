#include "cli/shell_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace synergraph::cli {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

bool is_plain(char c) {
  constexpr std::string_view others = "_@%+=:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  const bool controls = std::any_of(text.begin(), text.end(), is_control);
  std::string word = controls ? "$'" : "'";
  for (const char c : text) {
    if (is_control(c))
      word += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (controls && (c == '\\' || c == '\''))
      word += fmt::format("\\{}", c);
    else if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + '\'';
}

}  // namespace synergraph::cli
