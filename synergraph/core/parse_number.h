#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

#pragma GCC visibility push(default)
namespace synergraph {

/// One of 0 to 9, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether a text is digits alone, as the names of the layers of one array are.
constexpr bool is_number(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

/// Reads the number that `text` begins with, whatever the locale, and returns how many characters
/// it has: 0 if there is none or it is out of the type's range. A whole number may have a base.
template <class Number, class... Base>
std::size_t parse_leading_number(std::string_view text, Number& value, Base... base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

/// Reads all of `text` as a number; false if it is anything else or out of range.
template <class Number, class... Base>
bool parse_number(std::string_view text, Number& value, Base... base) {
  return !text.empty() && parse_leading_number(text, value, base...) == text.size();
}

}  // namespace synergraph
#pragma GCC visibility pop
