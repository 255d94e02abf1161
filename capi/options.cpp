#include "capi/options.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

namespace synergraph::capi {

using nlohmann::json;

void refuse(std::string_view key, const std::string& expected) {
  throw UsageError(fmt::format("options: {} is not {}", quoted_text(key), expected));
}

double checked(std::string_view key, const json& value, const NumberRange<double>& range) {
  if (!value.is_number() || !range.contains(value.get<double>())) refuse(key, described(range));
  return value.get<double>();
}

std::int64_t checked(std::string_view key, const json& value,
                     const NumberRange<std::int64_t>& range) {
  const bool whole = value.is_number_integer() &&
                     (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!whole || !range.contains(value.get<std::int64_t>())) refuse(key, described(range));
  return value.get<std::int64_t>();
}

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
  object_ = json::parse(text, text + std::strlen(text), once, false);
  if (!object_.is_object()) throw UsageError("options: not a JSON object");
}

std::optional<json> Options::take(std::string_view key) {
  known_.emplace_back(key);
  const auto found = object_.find(key);
  if (found == object_.end()) return std::nullopt;
  json value = std::move(*found);
  object_.erase(found);
  return value.is_null() ? std::nullopt : std::optional(std::move(value));
}

std::optional<bool> Options::take_bool(std::string_view key) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Options::take_text(std::string_view key) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) refuse(key, "a text");
  return value->get<std::string>();
}

std::optional<std::int64_t> Options::take_count(std::string_view key, std::int64_t least,
                                                std::int64_t most) {
  const std::optional<json> value = take(key);
  return value ? std::optional(checked(key, *value, NumberRange<std::int64_t>{least, most}))
               : std::nullopt;
}

std::optional<double> Options::take_number(std::string_view key, double least, double most) {
  const std::optional<json> value = take(key);
  return value ? std::optional(checked(key, *value, NumberRange<double>{least, most}))
               : std::nullopt;
}

std::optional<std::vector<double>> Options::take_numbers(std::string_view key, double least,
                                                         double most) {
  const std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  std::vector<double> numbers;
  if (!value->is_array())
    return std::vector{checked(key, *value, NumberRange<double>{least, most})};
  for (const json& one : *value)
    numbers.push_back(checked(key, one, NumberRange<double>{least, most}));
  if (numbers.empty()) refuse(key, "a number, or a list of some");
  return numbers;
}

std::vector<std::int64_t> Options::take_counts(std::string_view key, std::int64_t least,
                                               std::int64_t most) {
  std::optional<json> value = take(key);
  std::vector<std::int64_t> counts;
  if (!value) return counts;
  if (!value->is_array()) value = json::array({*value});
  for (const json& one : *value)
    counts.push_back(checked(key, one, NumberRange<std::int64_t>{least, most}));
  return counts;
}

std::optional<std::vector<std::string>> Options::take_texts(std::string_view key) {
  std::optional<json> value = take(key);
  if (!value) return std::nullopt;
  if (value->is_string()) value = json::array({*value});
  const bool texts =
      value->is_array() && !value->empty() &&
      std::all_of(value->begin(), value->end(), [](const json& one) { return one.is_string(); });
  if (!texts) refuse(key, "a text, or a list of some");
  return value->get<std::vector<std::string>>();
}

TokenRange Options::take_range(std::string_view key) {
  const std::optional<json> value = take(key);
  TokenRange range;
  if (!value) return range;
  if (!value->is_array() || value->size() != 2) refuse(key, "a list of two tokens, [begin, end]");
  range.begin = checked(key, (*value)[0], NumberRange<std::int64_t>{0, INT64_MAX});
  if (!(*value)[1].is_null())
    range.end = checked(key, (*value)[1], NumberRange<std::int64_t>{0, INT64_MAX});
  return range;
}

void Options::finish() const {
  if (object_.empty()) return;
  const std::string& key = object_.begin().key();
  if (known_.empty())
    throw UsageError(fmt::format("options: {}: this call takes no options", quoted_text(key)));
  throw UsageError(
      fmt::format("options: {} is not one of {}", quoted_text(key), fmt::join(known_, ", ")));
}

}  // namespace synergraph::capi
