#include "cli/setting_option.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {

std::string SettingOptions::name(const Setting& setting) {
  if (setting.positional) return std::string(setting.value);
  const std::string name = option_name(setting.key);
  return setting.alias.empty() ? name : fmt::format("{},{}", name, setting.alias);
}

void SettingOptions::describe(const Setting& setting, CLI::Option* option) {
  // The name of an argument says what it is; completions look for directories by their type.
  if (!setting.value.empty() && (!setting.positional || setting.value == "DIR"))
    option->type_name(std::string(setting.value));
  option->group(std::string(setting.group))->required(setting.required);
}

CLI::Option* SettingOptions::make(const Setting& setting, std::string& target) const {
  CLI::Option* option = command_.add_option(name(setting), target, help(setting));
  return target.empty() ? option : option->capture_default_str();
}

CLI::Option* SettingOptions::make(const Setting& setting, std::vector<std::string>& target) const {
  CLI::Option* option = command_.add_option(name(setting), target, help(setting));
  if (setting.count > 0) return option->expected(setting.count);
  if (setting.positional) return option->expected(-1);  // any number, without commas
  return setting.commas ? as_list(option) : option->allow_extra_args(false);
}

CLI::Option* SettingOptions::handed(
    const Setting& setting, std::function<void(const std::vector<std::string>&)> set) const {
  return command_.add_option(
      name(setting),
      [set = std::move(set)](const CLI::results_t& given) {
        set(given);
        return true;
      },
      help(setting));
}

CLI::Option* SettingOptions::named(const Setting& setting, const std::vector<std::string>& names,
                                   std::function<void(const std::vector<std::string>&)> set) const {
  return handed(setting, std::move(set))->type_name("TEXT")->check(CLI::IsMember(names));
}

CLI::Option* SettingOptions::make(const Setting& setting, ConventionChoice& target) const {
  std::vector<std::string> names = synergraph::all_names<Convention>();
  if (target.several) names.emplace_back("both");
  return named(setting, names,
               [&target](const std::vector<std::string>& given) {
                 const auto one = parse_name<Convention>(given.front());
                 target.names = one ? std::vector{*one}
                                    : std::vector{Convention::kExact, Convention::kPublished};
               })
      ->default_str(std::string(name_of(target.names.front())));
}

CLI::Option* SettingOptions::make(const Setting& setting, std::optional<Horizon>& target) const {
  return handed(setting, [&target, option = name(setting)](const std::vector<std::string>& given) {
    const std::string& text = given.front();
    target = Horizon{
        text == "certified" ? 0 : parse_option(option, text, kStepRange, "'certified' or ")};
  });
}

CLI::Option* SettingOptions::make(const Setting& setting, std::optional<TokenRange>& target) const {
  return handed(setting, [&target, option = name(setting)](const std::vector<std::string>& given) {
    const std::string& text = given.front();
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
      throw UsageError(fmt::format("{}: expected A:B, got {}", option, quoted_text(text)));
    const std::string begin = text.substr(0, colon);
    const std::string end = text.substr(colon + 1);
    const NumberRange<std::int64_t> positions;
    TokenRange range;
    if (!begin.empty()) range.begin = parse_option(option, begin, positions);
    if (!end.empty()) range.end = parse_option(option, end, positions);
    if (range.end && *range.end <= range.begin)
      throw UsageError(fmt::format("{}: {} is empty", option, text));
    target = range;
  });
}

CLI::Option* SettingOptions::make(const Setting& setting, TokenChoice& target) const {
  return handed(setting, [&target, key = setting.key](const std::vector<std::string>& given) {
    target = TokenChoice(given.front(), option_mark(key));
  });
}

void link_option(CLI::App& command, const Setting& setting) {
  if (setting.needs.empty() && setting.excludes.empty()) return;
  const auto find = [&](std::string_view key) {
    return key.empty() ? nullptr : command.get_option_no_throw(option_name(key));
  };
  CLI::Option* option = find(setting.key);
  if (option == nullptr) return;
  if (CLI::Option* needed = find(setting.needs)) option->needs(needed);
  if (CLI::Option* excluded = find(setting.excludes)) option->excludes(excluded);
}

}  // namespace synergraph::cli
