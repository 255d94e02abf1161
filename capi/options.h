#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/heads/synergy.h"

namespace synergraph::capi {

/// Steps of cutoffs and horizons, as on the command line.
inline constexpr std::int64_t kMostSteps = 1000000000;

/// The enum of a name. UsageError lists the names there are.
template <Named Enum>
Enum named_option(const char* key, const std::string& name) {
  if (const auto value = parse_name<Enum>(name)) return *value;
  throw UsageError(fmt::format("options: {}: {} is not one of {}", key, quoted_text(name),
                               fmt::join(all_names<Enum>(), ", ")));
}

/// The options of a call, a JSON object. Every key is taken once; what nobody took is an error.
class Options {
 public:
  /// UsageError unless the text, if there is any, is a JSON object.
  explicit Options(const char* text);

  /// The value of a key, if it is there and not null. UsageError if it is of another kind or out of
  /// its range.
  std::optional<bool> take_bool(const char* key);
  std::optional<std::string> take_text(const char* key);
  std::optional<std::int64_t> take_count(const char* key, std::int64_t least, std::int64_t most);
  std::optional<double> take_number(const char* key, double least, double most);
  /// One number, or a list of them that is not empty.
  std::optional<std::vector<double>> take_numbers(const char* key, double least, double most);
  /// One whole number, or a list of them; none if it is not there.
  std::vector<std::int64_t> take_counts(const char* key, std::int64_t least, std::int64_t most);
  /// One text, or a list of them that is not empty.
  std::optional<std::vector<std::string>> take_texts(const char* key);
  /// A name of an enum.
  template <Named Enum>
  std::optional<Enum> take_name(const char* key) {
    const std::optional<std::string> name = take_text(key);
    return name ? std::optional(named_option<Enum>(key, *name)) : std::nullopt;
  }
  /// Any value.
  std::optional<nlohmann::json> take(const char* key);
  /// [begin, end], the latter perhaps null; all tokens if it is not there.
  TokenRange take_range(const char* key);

  /// Whether the key is there.
  bool has(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  /// Whether the key's value is a text.
  bool is_text(const char* key) const;

  /// UsageError if a key is left.
  void finish() const;

 private:
  nlohmann::json object_;
  std::vector<std::string> known_;
};

/// How to measure: conventions by their names, and what each is.
struct MetricsChoice {
  std::vector<Convention> names;
  std::vector<MetricsOptions> conventions;
};

/// "convention", "normalization", "nodes", "horizon", "eps", "cutoff" and "step_limit", over what
/// `options_of` says of a convention. `several`: more than one convention may be asked for.
MetricsChoice take_metrics(Options& options, MetricsOptions (*options_of)(Convention),
                           bool several = false);

}  // namespace synergraph::capi
