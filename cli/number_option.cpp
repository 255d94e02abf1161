#include "cli/number_option.h"

#include <fmt/core.h>

#include <cstdint>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {
template <class Number>
Number parse_option(const std::string& option, std::string_view text,
                    const NumberRange<Number>& range, const std::string& other) {
  Number value{};
  if (parse_number(text, value) && range.contains(value)) return value;
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
