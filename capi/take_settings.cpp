#include "capi/take_settings.h"

#include <algorithm>

namespace synergraph::capi {

using nlohmann::json;

void TakeSettings::operator()(const Setting& setting, std::vector<double>& target,
                              const NumberRange<double>& range) const {
  std::optional<json> value = options.take(setting.key);
  if (!value) return;
  if (!value->is_array()) value = json::array({*value});
  if (value->empty()) refuse(setting.key, "a number, or a list of some");
  target.clear();
  for (const json& one : *value) target.push_back(checked(setting.key, one, range));
}

void TakeSettings::operator()(const Setting& setting, ConventionChoice& target) const {
  const std::optional<std::vector<std::string>> names = options.take_texts(setting.key);
  if (!names) return;
  if (*names == std::vector<std::string>{"both"}) {
    target.names = {Convention::kExact, Convention::kPublished};
  } else {
    target.names.clear();
    for (const std::string& text : *names) {
      const auto known = parse_name<Convention>(text);
      if (!known)
        throw UsageError(fmt::format("options: {}: {} is not one of {}{}", setting.key,
                                     quoted_text(text), fmt::join(all_names<Convention>(), ", "),
                                     target.several ? ", both" : ""));
      if (std::find(target.names.begin(), target.names.end(), *known) != target.names.end())
        throw UsageError(fmt::format("options: the convention {} is given twice", text));
      target.names.push_back(*known);
    }
  }
  if (!target.several && target.names.size() > 1)
    throw UsageError(fmt::format("options: {}: expected one convention, {}, not both", setting.key,
                                 fmt::join(all_names<Convention>(), " or ")));
}

void TakeSettings::operator()(const Setting& setting, std::optional<Horizon>& target) const {
  const std::optional<json> value = options.take(setting.key);
  if (!value) return;
  if (value->is_string() && *value != "certified")
    refuse(setting.key, "\"certified\" or a number of steps");
  target = Horizon{value->is_string() ? 0 : checked(setting.key, *value, kStepRange)};
}

void TakeSettings::operator()(const Setting& setting, TokenChoice& target) const {
  std::optional<json> value = options.take(setting.key);
  if (!value) return;
  if (!value->is_array()) value = json::array({*value});
  std::vector<std::string> parts;
  for (const json& one : *value) {
    if (!one.is_string() && !one.is_number_integer()) refuse(setting.key, "tokens");
    parts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  target = TokenChoice(fmt::format("{}", fmt::join(parts, ",")),
                       fmt::format("options: {}", setting.key));
}

MetricsChoice take_metrics(Options& options, MetricsOptions (*options_of)(Convention),
                           bool several) {
  MetricsSettings settings;
  settings.convention.several = several;
  visit_settings(settings, TakeSettings{options});
  MetricsChoice choice{settings.convention.names, {}};
  for (const Convention name : choice.names)
    choice.conventions.push_back(settings.resolve(name, options_of));
  return choice;
}

}  // namespace synergraph::capi
