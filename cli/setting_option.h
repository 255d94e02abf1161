#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/number_option.h"
#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/token_choice.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph::cli {

/// Makes the program's options from descriptions of settings, see add_settings().
class SettingOptions {
 public:
  explicit SettingOptions(CLI::App& command) : command_(command) {}

  template <class Target, class... Range>
  void operator()(const Setting& setting, Target& target, const Range&... range) const {
    if (setting.offered(face::kProgram)) describe(setting, make(setting, target, range...));
  }

 private:
  static std::string name(const Setting& setting);
  static std::string help(const Setting& setting) { return std::string(setting.help); }
  static void describe(const Setting& setting, CLI::Option* option);

  template <class Target, class Number>
  CLI::Option* make(const Setting& setting, Target& target,
                    const NumberRange<Number>& range) const {
    return add_number(command_, name(setting), target, help(setting), range);
  }
  CLI::Option* make(const Setting& setting, bool& target) const {
    return command_.add_flag(name(setting), target, help(setting));
  }
  CLI::Option* make(const Setting& setting, std::optional<bool>& target) const {
    return command_.add_flag_callback(
        name(setting), [&target] { target = true; }, help(setting));
  }
  CLI::Option* make(const Setting& setting, std::string& target) const;
  CLI::Option* make(const Setting& setting, std::vector<std::string>& target) const;
  template <Named Enum>
  CLI::Option* make(const Setting& setting, Enum& target) const {
    return named(setting, all_names<Enum>(),
                 [&target](const std::vector<std::string>& names) {
                   target = parse_name<Enum>(names.front()).value();
                 })
        ->default_str(std::string(name_of(target)));
  }
  template <Named Enum>
  CLI::Option* make(const Setting& setting, std::optional<Enum>& target) const {
    return named(setting, all_names<Enum>(), [&target](const std::vector<std::string>& names) {
      target = parse_name<Enum>(names.front());
    });
  }
  template <Named Enum>
  CLI::Option* make(const Setting& setting, std::vector<Enum>& target) const {
    std::string shown;
    for (const Enum value : target)
      shown += (shown.empty() ? "" : ",") + std::string(name_of(value));
    const auto take = [&target](const std::vector<std::string>& names) {
      target.clear();
      for (const std::string& one : names) target.push_back(parse_name<Enum>(one).value());
    };
    return as_list(named(setting, all_names<Enum>(), take))->default_str(shown);
  }
  CLI::Option* make(const Setting& setting, ConventionChoice& target) const;
  CLI::Option* make(const Setting& setting, std::optional<Horizon>& target) const;
  CLI::Option* make(const Setting& setting, std::optional<TokenRange>& target) const;
  CLI::Option* make(const Setting& setting, TokenChoice& target) const;

  /// An option that hands its arguments over.
  CLI::Option* handed(const Setting& setting,
                      std::function<void(const std::vector<std::string>&)> set) const;
  /// An option that takes some of these names.
  CLI::Option* named(const Setting& setting, const std::vector<std::string>& names,
                     std::function<void(const std::vector<std::string>&)> set) const;

  CLI::App& command_;
};

/// Says which options go together, once all are there.
void link_option(CLI::App& command, const Setting& setting);

/// Gives a command the options of its settings, which must live as long as the command.
template <class Settings>
void add_settings(CLI::App& command, Settings& settings) {
  visit_settings(settings, SettingOptions(command));
  visit_settings(settings,
                 [&](const Setting& setting, auto&&...) { link_option(command, setting); });
}

/// Adds a command with the options of its settings. Chosen, it calls run(settings) or run(command,
/// settings).
template <class Settings, class Run>
CLI::App& add_command(CLI::App& app, const char* name, const std::string& about, const char* footer,
                      const Run& run) {
  const auto settings = std::make_shared<Settings>();
  CLI::App& command = *app.add_subcommand(name, about);
  if (*footer != 0) command.footer(footer);
  add_settings(command, *settings);
  if constexpr (std::is_invocable_v<Run, Settings&>)
    command.callback([settings, run] { run(*settings); });
  else
    command.callback([&command, settings, run] { run(command, *settings); });
  return command;
}

}  // namespace synergraph::cli
