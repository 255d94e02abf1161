#include "capi/options.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace synergraph::capi {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostLimit = 1000000000000;

[[noreturn]] void refuse(const char* key, const std::string& expected) {
  throw UsageError(fmt::format("options: {} is not {}", quoted_text(key), expected));
}

double checked_number(const char* key, const json& value, double least, double most) {
  const double number =
      value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(number >= least && number <= most))
    refuse(key, fmt::format("a number from {} to {}", least, most));
  return number;
}

std::int64_t checked_count(const char* key, const json& value, std::int64_t least,
                           std::int64_t most) {
  const bool whole = value.is_number_integer() &&
                     (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return value.get<std::int64_t>();
}

}  // namespace

Options::Options(const char* text) : object_(json::object()) {
  if (text == nullptr || *text == '\0') return;
  std::set<std::string> seen;
  const auto once = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !seen.insert(parsed.get<std::string>()).second)
      throw UsageError(
          fmt::format("options: {} is given twice", quoted_text(parsed.get<std::string>())));
    return true;
  };
  object_ = json::parse(text, once, false);
  if (!object_.is_object()) throw UsageError("options: not a JSON object");
}

std::optional<json> Options::take(const char* key) {
  known_.emplace_back(key);
  const auto found = object_.find(key);
  if (found == object_.end()) return std::nullopt;
  json value = std::move(*found);
  object_.erase(found);
  return value.is_null() ? std::nullopt : std::optional(std::move(value));
}

std::optional<bool> Options::take_bool(const char* key) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Options::take_text(const char* key) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) refuse(key, "a text");
  return value->get<std::string>();
}

std::optional<std::int64_t> Options::take_count(const char* key, std::int64_t least,
                                                std::int64_t most) {
  const std::optional<json> value = take(key);
  return value ? std::optional(checked_count(key, *value, least, most)) : std::nullopt;
}

std::optional<double> Options::take_number(const char* key, double least, double most) {
  const std::optional<json> value = take(key);
  return value ? std::optional(checked_number(key, *value, least, most)) : std::nullopt;
}

std::optional<std::vector<double>> Options::take_numbers(const char* key, double least,
                                                         double most) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  std::vector<double> numbers;
  if (!value->is_array()) return std::vector{checked_number(key, *value, least, most)};
  for (const json& one : *value) numbers.push_back(checked_number(key, one, least, most));
  if (numbers.empty()) refuse(key, "a number, or a list of some");
  return numbers;
}

std::vector<std::int64_t> Options::take_counts(const char* key, std::int64_t least,
                                               std::int64_t most) {
  std::optional<json> value = take(key);
  std::vector<std::int64_t> counts;
  if (!value) return counts;
  if (!value->is_array()) value = json::array({*value});
  for (const json& one : *value) counts.push_back(checked_count(key, one, least, most));
  return counts;
}

std::optional<std::vector<std::string>> Options::take_texts(const char* key) {
  std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (value->is_string()) value = json::array({*value});
  const bool texts =
      value->is_array() && !value->empty() &&
      std::all_of(value->begin(), value->end(), [](const json& one) { return one.is_string(); });
  if (!texts) refuse(key, "a text, or a list of some");
  return value->get<std::vector<std::string>>();
}

TokenRange Options::take_range(const char* key) {
  const std::optional<json> value = take(key);
  TokenRange range;
  if (!value) return range;
  if (!value->is_array() || value->size() != 2) refuse(key, "a list of two tokens, [begin, end]");
  range.begin = checked_count(key, (*value)[0], 0, INT64_MAX);
  if (!(*value)[1].is_null()) range.end = checked_count(key, (*value)[1], 0, INT64_MAX);
  return range;
}

bool Options::is_text(const char* key) const {
  const auto found = object_.find(key);
  return found != object_.end() && found->is_string();
}

void Options::finish() const {
  if (object_.empty()) return;
  const std::string& key = object_.begin().key();
  if (known_.empty())
    throw UsageError(fmt::format("options: {}: this call takes no options", quoted_text(key)));
  throw UsageError(
      fmt::format("options: {} is not one of {}", quoted_text(key), fmt::join(known_, ", ")));
}

MetricsChoice take_metrics(Options& options, MetricsOptions (*options_of)(Convention),
                           bool several) {
  MetricsChoice choice;
  const std::vector<std::string> names =
      options.take_texts("convention").value_or(std::vector<std::string>{"exact"});
  if (names == std::vector<std::string>{"both"}) {
    choice.names = {Convention::kExact, Convention::kPublished};
  } else {
    for (const std::string& text : names) {
      const auto known = parse_name<Convention>(text);
      if (!known)
        throw UsageError(fmt::format("options: convention: {} is not one of {}{}",
                                     quoted_text(text), fmt::join(all_names<Convention>(), ", "),
                                     several ? ", both" : ""));
      const Convention name = *known;
      if (std::find(choice.names.begin(), choice.names.end(), name) != choice.names.end())
        throw UsageError(fmt::format("options: the convention {} is given twice", text));
      choice.names.push_back(name);
    }
  }
  if (!several && choice.names.size() > 1)
    throw UsageError(fmt::format("options: convention: expected one convention, {}, not both",
                                 fmt::join(all_names<Convention>(), " or ")));

  const auto normalization = options.take_name<Normalization>("normalization");
  const auto nodes = options.take_name<FidelityNodes>("nodes");
  std::optional<std::int64_t> horizon;
  if (options.is_text("horizon")) {
    if (options.take_text("horizon") != "certified")
      refuse("horizon", "\"certified\" or a number of steps");
    horizon = 0;
  } else {
    horizon = options.take_count("horizon", 1, kMostSteps);
  }
  const auto eps = options.take_numbers("eps", std::numeric_limits<double>::denorm_min(), 1.0);
  const auto cutoff = options.take_count("cutoff", 1, kMostSteps);
  const auto step_limit = options.take_count("step_limit", 0, kMostLimit);
  for (const Convention name : choice.names) {
    MetricsOptions& convention = choice.conventions.emplace_back(options_of(name));
    convention.normalization = normalization.value_or(convention.normalization);
    convention.fidelity.nodes = nodes.value_or(convention.fidelity.nodes);
    convention.fidelity.horizon = horizon.value_or(convention.fidelity.horizon);
    convention.walk.eps = eps.value_or(convention.walk.eps);
    convention.walk.cutoff = cutoff.value_or(convention.walk.cutoff);
    if (step_limit.value_or(0) > 0) convention.fidelity.step_limit = *step_limit;
  }
  return choice;
}

}  // namespace synergraph::capi
