#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns true for the digits 0 to 9, in every locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns true if a text consists of digits only and is not empty. Layers of a single array have
/// such names.
constexpr bool is_number(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

/// Reads the number at the beginning of `text`, in every locale, and returns the length of the
/// number in characters. The result is 0 if `text` begins with no number or the number is out of
/// range. Whole numbers accept a base.
template <class Number, class... Base>
std::size_t parse_leading_number(std::string_view text, Number& value, Base... base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
}

/// Reads all of `text` as a number. Returns false if `text` is not a number or the number is out of
/// range.
template <class Number, class... Base>
bool parse_number(std::string_view text, Number& value, Base... base) {
  return !text.empty() && parse_leading_number(text, value, base...) == text.size();
}

}  // namespace synergraph
#pragma GCC visibility pop
