#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// One setting, described once. The program's option and its help, the key of the C interface and
/// Python, and the tables of the docs are made from this description.
///
/// A list of settings is a function template
///   template <class Visit> void visit_settings(Options& options, Visit&& visit);
/// that calls visit(setting, member) or visit(setting, member, range) for each: the member's type
/// is the setting's type, its value the default. A std::optional has none.
struct Setting {
  std::string_view key;         ///< "step_limit". The program's option is --step-limit.
  std::string_view group;       ///< heading in the program's help
  std::string_view help;        ///< a noun phrase, lower case
  std::string_view value = {};  ///< what the help calls the value, where its type does not say
};

/// The numbers that a setting takes: from `least` to `most`, both included unless `above`. Whole
/// numbers are counts and seeds: never negative unless a range says so.
template <class Number>
struct NumberRange {
  Number least = std::integral<Number> ? Number{0} : std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool above = false;  ///< greater than `least`

  /// Also false for NaN.
  constexpr bool contains(Number number) const {
    return number >= least && number <= most && !(above && number == least);
  }
};

/// Cutoffs and horizons, in steps.
inline constexpr NumberRange<std::int64_t> kStepRange{1, 1000000000};
/// Thresholds of T_mix.
inline constexpr NumberRange<double> kThresholdRange{0.0, 1.0, true};

/// "a whole number from 1 to 4096", "a number above 0, at most 1".
template <class Number>
std::string described(const NumberRange<Number>& range);

/// "--step-limit" for "step_limit".
std::string option_name(std::string_view key);

}  // namespace synergraph
#pragma GCC visibility pop
