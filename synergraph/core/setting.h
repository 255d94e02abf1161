#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// The faces that offer a setting, as bits.
namespace face {
inline constexpr unsigned kProgram = 1;
inline constexpr unsigned kC = 2;
inline constexpr unsigned kPython = 4;
inline constexpr unsigned kLibrary = kC | kPython;
inline constexpr unsigned kAll = kProgram | kLibrary;
}  // namespace face

/// What a setting changes.
enum class SettingEffect {
  kNumbers,    ///< the numbers of the result
  kExecution,  ///< how, where and with which files work runs; the files' bytes count, not their
               ///< names
  kOutput,     ///< what is written
};

/// The description of one setting. The program's option with its help, the key in C and Python, the
/// JSON Schema and the tables in the docs come from this description.
///
/// A list of settings is a function template
///   template <class Visit> void visit_settings(Options& options, Visit&& visit);
/// that calls visit(setting, member) or visit(setting, member, range) for each setting. The type of
/// the member is the type of the setting, and the value of the member is the default. A
/// std::optional member has no default.
struct Setting {
  std::string_view key;         ///< "step_limit"; the program's option is --step-limit
  std::string_view group;       ///< heading in the program's help
  std::string_view help;        ///< a noun phrase, lower case
  std::string_view value = {};  ///< name of the value in the help, where the type gives no name
  unsigned faces = face::kAll;  ///< see `face`
  SettingEffect effect = SettingEffect::kNumbers;
  /// Another name of the program's option.
  std::string_view alias = {};
  bool positional = false;         ///< in the program an argument without a name
  bool required = false;           ///< in the program
  bool commas = true;              ///< in the program a list is one argument with commas
  int count = 0;                   ///< in the program a list is so many arguments; 0: any number
  std::string_view needs = {};     ///< key of a setting without which this one is an error
  std::string_view excludes = {};  ///< key of a setting with which this one is an error

  constexpr bool offered(unsigned by) const { return (faces & by) != 0; }
};

/// Visits settings as if only these faces offered them.
template <class Visit>
auto only_for(unsigned faces, Visit& visit) {
  return [faces, &visit](Setting setting, auto&&... rest) {
    setting.faces &= faces;
    visit(setting, rest...);
  };
}

/// The numbers that a setting accepts: from `least` to `most`, both included unless `above` is
/// true. Whole numbers are counts and seeds: a negative number needs an explicit range.
template <class Number>
struct NumberRange {
  Number least = std::integral<Number> ? Number{0} : std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool above = false;  ///< numbers must be greater than `least`

  /// Returns true if the range contains the number. The result is false for NaN.
  constexpr bool contains(Number number) const {
    return number >= least && number <= most && !(above && number == least);
  }
};

/// The range of cutoffs and horizons, in steps.
inline constexpr NumberRange<std::int64_t> kStepRange{1, 1000000000};
/// The range of thresholds of T_mix.
inline constexpr NumberRange<double> kThresholdRange{0.0, 1.0, true};

/// Describes a range in words: "a whole number from 1 to 4096", "a number above 0, at most 1".
template <class Number>
std::string described(const NumberRange<Number>& range);

/// Returns the option name of a key: "--step-limit" for "step_limit". Some options have a shorter
/// name than their key: --from is from_tokens, --to is sink.
std::string option_name(std::string_view key);
/// Returns the option name of a key that has no shorter one.
std::string plain_option_name(std::string_view key);

/// How a door to the library spells the keys of settings.
enum class OptionSpelling {
  kKey,      ///< step_limit
  kProgram,  ///< --step-limit
};

/// Returns a key as messages of the library hold it: between marks that have no width. Every door
/// spells marked keys in its own way.
std::string option_mark(std::string_view key);

/// Returns a message with its marked keys spelled.
std::string spelled(std::string_view message, OptionSpelling spelling);

}  // namespace synergraph
#pragma GCC visibility pop
