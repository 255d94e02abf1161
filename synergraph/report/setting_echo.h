#pragma once

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

/// The key of a setting in documents.
constexpr std::string_view document_key(std::string_view key) {
  return key == "nodes" ? "fidelity_nodes" : key;
}

/// Whether the `settings` of documents have a setting. The others stand elsewhere: the convention,
/// the values and the samples of a search in fields of their own, sampling in an object.
constexpr bool is_echoed(std::string_view key) {
  constexpr std::string_view kElsewhere[] = {"convention", "values", "weight_samples", "precision",
                                             "orders"};
  return std::ranges::find(kElsewhere, key) == std::end(kElsewhere);
}

/// Writes settings into the `settings` of a document, each under its key. Tokens that were not
/// chosen are left out.
class SettingEcho {
 public:
  explicit SettingEcho(nlohmann::ordered_json& json) : json_(json) {}

  template <class Value, class... Range>
  void operator()(const Setting& setting, const Value& value, const Range&...) const {
    if (is_echoed(setting.key)) write(document_key(setting.key), value);
  }

 private:
  void write(std::string_view, const ConventionChoice&) const {}
  void write(std::string_view key, const TokenChoice& tokens) const {
    if (!tokens.empty()) json_[key] = tokens.text();
  }
  void write(std::string_view key, const std::optional<Horizon>& horizon) const {
    json_[key] = horizon->steps == 0 ? nlohmann::ordered_json("certified")
                                     : nlohmann::ordered_json(horizon->steps);
  }
  template <Named Enum>
  void write(std::string_view key, const std::optional<Enum>& name) const {
    json_[key] = name_of(*name);
  }
  template <class Value>
  void write(std::string_view key, const Value& value) const {
    json_[key] = value;
  }

  nlohmann::ordered_json& json_;
};

}  // namespace synergraph
