#pragma once

#include <concepts>
#include <type_traits>

#include "capi/options.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph::capi {

/// Takes settings out of the options of a call by their descriptions:
///   visit_settings(settings, TakeSettings{options});
struct TakeSettings {
  Options& options;

  /// Of a number, or of one that need not be there.
  template <class Target, class Number>
  void operator()(const Setting& setting, Target& target, const NumberRange<Number>& range) const {
    using Wide = std::conditional_t<std::integral<Number>, std::int64_t, double>;
    if (const auto value = options.take(setting.key))
      target = static_cast<Number>(
          checked(setting.key, *value, NumberRange<Wide>{range.least, range.most, range.above}));
  }
  /// One, or a list.
  void operator()(const Setting& setting, std::vector<double>& target,
                  const NumberRange<double>& range) const;
  void operator()(const Setting& setting, bool& target) const {
    target = options.take_bool(setting.key).value_or(target);
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::optional<Enum>& target) const {
    if (const auto name = options.take_text(setting.key))
      target = named_option<Enum>(setting.key, *name);
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::vector<Enum>& target) const {
    const auto names = options.take_texts(setting.key);
    if (!names) return;
    target.clear();
    for (const std::string& name : *names) target.push_back(named_option<Enum>(setting.key, name));
  }
  void operator()(const Setting& setting, ConventionChoice& target) const;
  void operator()(const Setting& setting, std::optional<Horizon>& target) const;
  /// A text, a token, or a list of tokens.
  void operator()(const Setting& setting, TokenChoice& target) const;
};

/// How to measure: conventions by their names, and what each is.
struct MetricsChoice {
  std::vector<Convention> names;
  std::vector<MetricsOptions> conventions;
};

/// MetricsSettings, over what `options_of` says of a convention. `several`: more than one
/// convention may be asked for.
MetricsChoice take_metrics(Options& options, MetricsOptions (*options_of)(Convention),
                           bool several = false);

}  // namespace synergraph::capi
