#include "cli/setting_option.h"

#include <stdexcept>

namespace synergraph::cli {

CLI::Option* SettingOptions::described(const Setting& setting, CLI::Option* option) {
  if (!setting.value.empty()) option->type_name(std::string(setting.value));
  return option->group(std::string(setting.group));
}

CLI::Option* SettingOptions::named(
    const Setting& setting, const std::vector<std::string>& names,
    const std::function<void(const std::vector<std::string>&)>& set) const {
  CLI::Option* option = command.add_option(
      option_name(setting),
      [set](const CLI::results_t& given) {
        set(given);
        return true;
      },
      help(setting));
  return described(setting, option->type_name("TEXT")->check(CLI::IsMember(names)));
}

void SettingOptions::operator()(const Setting& setting, ConventionChoice& target) const {
  std::vector<std::string> names = all_names<Convention>();
  if (target.several) names.emplace_back("both");
  named(setting, names, [&target](const std::vector<std::string>& given) {
    const auto one = parse_name<Convention>(given.front());
    target.names =
        one ? std::vector{*one} : std::vector{Convention::kExact, Convention::kPublished};
  })->default_str(std::string(name_of(target.names.front())));
}

void SettingOptions::operator()(const Setting& setting, std::optional<Horizon>& target) const {
  const std::string name = option_name(setting);
  described(setting,
            command.add_option(
                name,
                [&target, name](const CLI::results_t& given) {
                  const std::string& text = given.front();
                  target = Horizon{text == "certified"
                                       ? 0
                                       : parse_option(name, text, kStepRange, "'certified' or ")};
                  return true;
                },
                help(setting)));
}

void SettingOptions::operator()(const Setting& setting, TokenChoice& target) const {
  const std::string name = option_name(setting);
  described(setting, command.add_option(
                         name,
                         [&target, name](const CLI::results_t& given) {
                           target = TokenChoice(given.front(), name);
                           return true;
                         },
                         help(setting)));
}

std::string help_of_metric(std::string_view key) {
  MetricsSettings settings;
  std::string help;
  visit_settings(settings, [&](const Setting& setting, auto&&...) {
    if (setting.key == key) help = setting.help;
  });
  if (help.empty()) throw std::logic_error("no setting " + std::string(key));
  return help;
}

}  // namespace synergraph::cli
