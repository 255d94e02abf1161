#include "cli/shell_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/terminal.h"

namespace synergraph::cli {
namespace {

bool is_ascii(char c) {
  return c >= ' ' && c < 0x7f;
}

bool is_plain(char c) {
  constexpr std::string_view others = "_@%+=:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  const bool escapes = printable(text) != text;
  std::string word = escapes ? "$'" : "'";
  for (const char c : text) {
    if (escapes && !is_ascii(c))
      word += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else if (escapes && (c == '\\' || c == '\''))
      word += fmt::format("\\{}", c);
    else if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + '\'';
}

}  // namespace synergraph::cli
