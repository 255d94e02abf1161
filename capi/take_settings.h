#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capi/options.h"
#include "synergraph/analysis/array_readings.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/metrics_settings.h"

namespace synergraph::capi {

/// Takes settings out of the options of a call by their descriptions, see take_settings().
class TakeSettings {
 public:
  explicit TakeSettings(Options& options) : options_(options) {}

  template <class Target, class... Range>
  void operator()(const Setting& setting, Target& target, const Range&... range) const {
    if (!setting.offered(face::kC)) return;
    if (const std::optional<nlohmann::json> value = options_.take(setting.key))
      read(setting.key, *value, target, range...);
    if (!setting.excludes.empty() && options_.given(setting.key) &&
        options_.given(setting.excludes))
      throw UsageError(fmt::format("{} and {} exclude each other", option_mark(setting.key),
                                   option_mark(setting.excludes)));
  }

 private:
  using Key = std::string_view;
  using Json = nlohmann::json;

  template <class Number>
  static void read(Key key, const Json& value, Number& target, const NumberRange<Number>& range) {
    target = checked(key, value, range);
  }
  template <class Number>
  static void read(Key key, const Json& value, std::optional<Number>& target,
                   const NumberRange<Number>& range) {
    target = checked(key, value, range);
  }
  /// One, or a list.
  template <class Number>
  static void read(Key key, const Json& value, std::vector<Number>& target,
                   const NumberRange<Number>& range) {
    target.clear();
    for (const Json& one : listed(key, value)) target.push_back(checked(key, one, range));
  }
  static void read(Key key, const Json& value, bool& target);
  static void read(Key key, const Json& value, std::optional<bool>& target);
  static void read(Key key, const Json& value, std::string& target);
  static void read(Key key, const Json& value, std::vector<std::string>& target);
  template <Named Enum>
  static void read(Key key, const Json& value, Enum& target) {
    target = named_option<Enum>(key, text_in(key, value));
  }
  template <Named Enum>
  static void read(Key key, const Json& value, std::optional<Enum>& target) {
    target = named_option<Enum>(key, text_in(key, value));
  }
  template <Named Enum>
  static void read(Key key, const Json& value, std::vector<Enum>& target) {
    target.clear();
    for (const Json& one : listed(key, value))
      target.push_back(named_option<Enum>(key, text_in(key, one)));
  }
  static void read(Key key, const Json& value, ConventionChoice& target);
  static void read(Key key, const Json& value, std::optional<Horizon>& target);
  static void read(Key key, const Json& value, std::optional<TokenRange>& target);
  /// A text, a token, or a list of tokens.
  static void read(Key key, const Json& value, TokenChoice& target);
  static void read(Key key, const Json& value, std::optional<GivenReading>& target);

  Options& options_;
};

/// The settings of a call that has no others.
template <class Settings>
Settings take_settings(Options& options) {
  Settings settings;
  visit_settings(settings, TakeSettings(options));
  options.finish();
  return settings;
}
template <class Settings>
Settings take_settings(const char* text) {
  Options options(text);
  return take_settings<Settings>(options);
}

}  // namespace synergraph::capi
