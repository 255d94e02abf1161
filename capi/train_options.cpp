#include "capi/train_options.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace synergraph::capi {

Given take_settings(Options& options, TrainSettings& settings,
                    std::initializer_list<std::string_view> without) {
  const Given given{options.has("sequences"), options.has("length"), options.has("batch")};
  visit_settings([&](std::string_view name, auto get, const char* /*group*/, const char* /*help*/) {
    using Value = std::remove_reference_t<decltype(get(settings))>;
    if constexpr (std::is_arithmetic_v<Value>) {
      if (std::find(without.begin(), without.end(), name) != without.end()) return;
      const std::string key(name);
      Value& value = get(settings);
      if constexpr (std::is_floating_point_v<Value>)
        value = options
                    .take_number(key.c_str(), std::numeric_limits<Value>::lowest(),
                                 std::numeric_limits<Value>::max())
                    .value_or(value);
      else if (const auto count = options.take_count(
                   key.c_str(), static_cast<std::int64_t>(std::numeric_limits<Value>::min()),
                   std::is_signed_v<Value> ? std::int64_t{std::numeric_limits<int>::max()}
                                           : std::numeric_limits<std::int64_t>::max()))
        value = static_cast<Value>(*count);
    }
  });
  return given;
}

DeviceChoice take_device(Options& options) {
  DeviceChoice choice;
  choice.name = options.take_text("device").value_or(choice.name);
  choice.precision = options.take_name<Precision>("precision").value_or(choice.precision);
  return choice;
}

double take_checkpoint_interval(Options& options) {
  return options.take_number("checkpoint_every", 0.0, std::numeric_limits<double>::max())
      .value_or(60.0);
}

}  // namespace synergraph::capi
