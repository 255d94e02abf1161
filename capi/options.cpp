#include "capi/options.h"

#include <cstring>
#include <utility>

namespace synergraph::capi {

using nlohmann::json;

void refuse(std::string_view key, const std::string& expected) {
  throw UsageError(fmt::format("options: {} is not {}", quoted_text(key), expected));
}

std::string text_in(std::string_view key, const json& value) {
  if (!value.is_string()) refuse(key, "a text");
  return value.get<std::string>();
}

json listed(std::string_view key, const json& value) {
  if (!value.is_array()) return json::array({value});
  if (value.empty()) refuse(key, "a value, or a list of some");
  return value;
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
  for (const auto& [key, value] : object_.items())
    if (!value.is_null()) given_.insert(key);
}

std::optional<json> Options::take(std::string_view key) {
  known_.emplace_back(key);
  const auto found = object_.find(key);
  if (found == object_.end()) return std::nullopt;
  json value = std::move(*found);
  object_.erase(found);
  return value.is_null() ? std::nullopt : std::optional(std::move(value));
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
