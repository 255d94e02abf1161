#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/setting.h"
#include "synergraph/core/split.h"

namespace synergraph::cli {

/// All of `text` as a number of the range. Anything else, such as NaN, a number that overflows or a
/// sign that would wrap around, is a UsageError that names the option and what it takes: a number,
/// or what the caller has already looked for, `other`.
template <class Number>
Number parse_option(const std::string& option, std::string_view text,
                    const NumberRange<Number>& range, const std::string& other = "");

/// The option's values are separated by commas within one argument: what follows is not its own.
CLI::Option* as_list(CLI::Option* option);

/// How the help shows a number.
std::string shown_number(double value);
template <std::integral Number>
std::string shown_number(Number value) {
  return std::to_string(value);
}

/// What add_number() needs to know about a target: a number, perhaps one, or a list.
template <class Target>
struct NumberTarget {
  using Number = Target;
  static constexpr bool kList = false;
  static constexpr bool kDefault = true;
  static void begin(Target&) {}
  static void set(Target& target, Number value) { target = value; }
  static std::string shown(const Target& target) { return shown_number(target); }
};
template <class Value>
struct NumberTarget<std::optional<Value>> {
  using Number = Value;
  static constexpr bool kList = false;
  static constexpr bool kDefault = false;
  static void begin(std::optional<Value>&) {}
  static void set(std::optional<Value>& target, Number value) { target = value; }
  static std::string shown(const std::optional<Value>&) { return ""; }
};
template <class Value>
struct NumberTarget<std::vector<Value>> {
  using Number = Value;
  static constexpr bool kList = true;
  static constexpr bool kDefault = true;
  static void begin(std::vector<Value>& target) { target.clear(); }
  static void set(std::vector<Value>& target, Number value) { target.push_back(value); }
  static std::string shown(const std::vector<Value>& target) {
    std::string text;
    for (const Value value : target) text += (text.empty() ? "" : ",") + shown_number(value);
    return text;
  }
};

/// An option for a number, for one that need not be there, or for a list separated by commas; every
/// option of every command that takes numbers is made here. The help shows the value that `target`
/// has now, if it has one.
template <class Target>
CLI::Option* add_number(CLI::App& command, const std::string& name, Target& target,
                        const std::string& help,
                        NumberRange<typename NumberTarget<Target>::Number> range = {}) {
  using Kind = NumberTarget<Target>;
  CLI::Option* option = command.add_option(
      name,
      [&target, name, range](const CLI::results_t& texts) {
        Kind::begin(target);
        for (const std::string& text : texts)
          // Empty parts, which CLI11 would pass over, are parts too; no argument holds a '\0'.
          for (const std::string_view part : split(text, Kind::kList ? ',' : '\0'))
            Kind::set(target, parse_option(name, part, range));
        return true;
      },
      help, false, [&target] { return Kind::shown(target); });
  option->type_name(std::floating_point<typename Kind::Number> ? "NUMBER" : "N");
  option->type_size(1);
  if (Kind::kList) option->expected(CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  if (Kind::kDefault) option->capture_default_str();
  return option;
}

}  // namespace synergraph::cli
