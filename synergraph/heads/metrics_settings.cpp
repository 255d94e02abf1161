#include "synergraph/heads/metrics_settings.h"

namespace synergraph {
namespace {

/// Sets an option to what a setting says. A setting that says nothing leaves the option as it is.
constexpr auto kSet = []<class Value, class Option>(const Value& setting, Option& option) {
  if constexpr (std::is_same_v<Value, std::optional<Horizon>>) {
    if (setting) option = setting->steps;
  } else if constexpr (std::is_same_v<Value, std::optional<Option>>) {
    option = setting.value_or(option);
  } else {
    option = setting;
  }
};

/// Sets a setting to what an option is.
constexpr auto kTell = []<class Value, class Option>(Value& setting, const Option& option) {
  if constexpr (std::is_same_v<Value, std::optional<Horizon>>)
    setting = Horizon{option};
  else
    setting = option;
};

}  // namespace

MetricsOptions MetricsSettings::resolve(Convention of,
                                        MetricsOptions (*options_of)(Convention)) const {
  MetricsOptions options = options_of(of);
  link_options(*this, options, kSet);
  if (step_limit == 0) options.fidelity.step_limit = FidelityOptions().step_limit;
  return options;
}

MetricsSettings settings_of(const MetricsOptions& options) {
  MetricsSettings settings;
  link_options(settings, options, kTell);
  if (settings.step_limit == FidelityOptions().step_limit) settings.step_limit = 0;
  return settings;
}

}  // namespace synergraph
