#include "cli/number_option.h"

#include <fmt/core.h>

#include <cstdint>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {
namespace {

/// "a whole number from 1 to 4096", "a number above 0, at most 1".
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

}  // namespace

template <class Number>
Number parse_option(const std::string& option, std::string_view text,
                    const NumberRange<Number>& range, const std::string& other) {
  Number value{};
  // NaN fails the comparisons; infinity is above every `most`.
  if (parse_number(text, value) && value >= range.least && value <= range.most &&
      !(range.above && value == range.least))
    return value;
  throw UsageError(
      fmt::format("{}: expected {}{}, got {}", option, other, described(range), quoted_text(text)));
}

template double parse_option(const std::string&, std::string_view, const NumberRange<double>&,
                             const std::string&);
template int parse_option(const std::string&, std::string_view, const NumberRange<int>&,
                          const std::string&);
template std::int64_t parse_option(const std::string&, std::string_view,
                                   const NumberRange<std::int64_t>&, const std::string&);
template std::uint64_t parse_option(const std::string&, std::string_view,
                                    const NumberRange<std::uint64_t>&, const std::string&);

CLI::Option* as_list(CLI::Option* option) {
  return option->delimiter(',')->allow_extra_args(false);
}

std::string shown_number(double value) {
  return fmt::format("{}", value);
}

}  // namespace synergraph::cli
