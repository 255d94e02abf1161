#include "synergraph/core/setting.h"

#include <fmt/core.h>

#include <algorithm>

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

std::string option_name(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string option_name(const Setting& setting) {
  return setting.option.empty() ? option_name(setting.key) : std::string(setting.option);
}

}  // namespace synergraph
