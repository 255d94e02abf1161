#include "synergraph/core/setting.h"

#include <fmt/core.h>

#include <algorithm>

#include <utility>

namespace synergraph {

template <class Number>
std::string described(const NumberRange<Number>& range) {
  const bool bounded_above = range.most < std::numeric_limits<Number>::max();
  if constexpr (std::integral<Number>) {
    // Only a seed may be anything that its type holds.
    return bounded_above || sizeof(Number) == 8
               ? fmt::format("a whole number from {} to {}", range.least, range.most)
               : fmt::format("a whole number of at least {}", range.least);
  } else {
    const bool bounded_below = range.least > std::numeric_limits<Number>::lowest();
    if (!bounded_below && !bounded_above) return "a finite number";
    if (!bounded_above)
      return fmt::format("a finite number {} {}", range.above ? "above" : "of at least",
                         range.least);
    return range.above ? fmt::format("a number above {}, at most {}", range.least, range.most)
                       : fmt::format("a number from {} to {}", range.least, range.most);
  }
}

template std::string described(const NumberRange<double>&);
template std::string described(const NumberRange<int>&);
template std::string described(const NumberRange<std::int64_t>&);
template std::string described(const NumberRange<std::uint64_t>&);

namespace {

/// Keys whose option has another name: Python has the word `from` for itself, and a program's user
/// says from whom to whom.
constexpr std::pair<std::string_view, std::string_view> kOptionNames[] = {{"from_tokens", "--from"},
                                                                          {"sink", "--to"}};

}  // namespace

std::string plain_option_name(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string option_name(std::string_view key) {
  for (const auto& [named, option] : kOptionNames)
    if (key == named) return std::string(option);
  return plain_option_name(key);
}

namespace {

// U+2060, word joiner: what() reads well where nobody spells it.
constexpr std::string_view kMark = "\xe2\x81\xa0";

}  // namespace

std::string option_mark(std::string_view key) {
  return fmt::format("{}{}{}", kMark, key, kMark);
}

std::string spelled(std::string_view message, OptionSpelling spelling) {
  std::string text;
  for (bool key = false;; key = !key) {
    const std::size_t end = message.find(kMark);
    const std::string_view part = message.substr(0, end);
    if (key && end != std::string_view::npos && spelling == OptionSpelling::kProgram)
      text += option_name(part);
    else
      text += part;
    if (end == std::string_view::npos) return text;
    message.remove_prefix(end + kMark.size());
  }
}

}  // namespace synergraph
