#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/number_option.h"
#include "synergraph/core/names.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph::cli {

/// Makes the program's options from descriptions of settings:
///   visit_settings(settings, SettingOptions{command});
/// The settings must live as long as the command.
struct SettingOptions {
  CLI::App& command;

  template <class Target, class Number>
  void operator()(const Setting& setting, Target& target, const NumberRange<Number>& range) const {
    described(setting, add_number(command, option_name(setting), target, help(setting), range));
  }
  void operator()(const Setting& setting, bool& target) const {
    command.add_flag(option_name(setting), target, help(setting))
        ->group(std::string(setting.group));
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::optional<Enum>& target) const {
    named(setting, all_names<Enum>(), [&target](const std::vector<std::string>& names) {
      target = parse_name<Enum>(names.front());
    });
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::vector<Enum>& target) const {
    std::string shown;
    for (const Enum value : target)
      shown += (shown.empty() ? "" : ",") + std::string(name_of(value));
    as_list(named(setting, all_names<Enum>(), [&target](const std::vector<std::string>& names) {
      target.clear();
      for (const std::string& name : names) target.push_back(parse_name<Enum>(name).value());
    }))->default_str(shown);
  }
  void operator()(const Setting& setting, ConventionChoice& target) const;
  void operator()(const Setting& setting, std::optional<Horizon>& target) const;
  void operator()(const Setting& setting, TokenChoice& target) const;

 private:
  static std::string help(const Setting& setting) { return std::string(setting.help); }
  static CLI::Option* described(const Setting& setting, CLI::Option* option);
  /// An option that takes some of these names.
  CLI::Option* named(const Setting& setting, const std::vector<std::string>& names,
                     const std::function<void(const std::vector<std::string>&)>& set) const;
};

/// The help of a setting of MetricsSettings, for commands that take some of them.
std::string help_of_metric(std::string_view key);

}  // namespace synergraph::cli
