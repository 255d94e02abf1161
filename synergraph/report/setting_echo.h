#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

/// The key of a measuring setting in documents.
constexpr std::string_view document_key(std::string_view key) {
  return key == "nodes" ? "fidelity_nodes" : key;
}

/// Writes measuring settings into the `settings` of a document, each under its key. The convention
/// is left out: it stands elsewhere in the document. So are tokens that were not chosen.
class SettingEcho {
 public:
  explicit SettingEcho(nlohmann::ordered_json& json) : json_(json) {}

  void operator()(const Setting&, const ConventionChoice&) const {}
  void operator()(const Setting& setting, const TokenChoice& tokens) const {
    if (!tokens.empty()) json_[document_key(setting.key)] = tokens.text();
  }
  void operator()(const Setting& setting, const std::optional<Horizon>& horizon) const {
    json_[document_key(setting.key)] = horizon->steps == 0 ? nlohmann::ordered_json("certified")
                                                           : nlohmann::ordered_json(horizon->steps);
  }
  template <Named Enum>
  void operator()(const Setting& setting, const std::optional<Enum>& name) const {
    json_[document_key(setting.key)] = name_of(*name);
  }
  template <class Value, class Range>
  void operator()(const Setting& setting, const Value& value, const Range&) const {
    json_[document_key(setting.key)] = value;
  }

 private:
  nlohmann::ordered_json& json_;
};

}  // namespace synergraph
