#include "synergraph/report/settings_schema.h"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/core/names.h"
#include "synergraph/heads/metrics_settings.h"
#include "synergraph/heads/quantity_rows.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

template <class Number>
ordered_json number_type(const NumberRange<Number>& range) {
  ordered_json type = {{"type", std::integral<Number> ? "integer" : "number"}};
  if (range.least > std::numeric_limits<Number>::lowest())
    type[range.above ? "exclusiveMinimum" : "minimum"] = range.least;
  if (range.most < std::numeric_limits<Number>::max()) type["maximum"] = range.most;
  return type;
}

ordered_json one_or_some(ordered_json type) {
  const ordered_json list = {{"type", "array"}, {"items", type}, {"minItems", 1}};
  return {{"anyOf", {std::move(type), list}}};
}

template <Named Enum>
ordered_json names_type() {
  return {{"type", "string"}, {"enum", all_names<Enum>()}};
}

template <Named Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const Enum value : values) names.emplace_back(name_of(value));
  return names;
}

/// Collects the properties of a schema from descriptions of settings.
struct SchemaProperties {
  ordered_json& properties;

  template <class Number>
  void operator()(const Setting& setting, Number& target, const NumberRange<Number>& range) const {
    add(setting, number_type(range), target);
  }
  template <class Number>
  void operator()(const Setting& setting, std::optional<Number>& /*target*/,
                  const NumberRange<Number>& range) const {
    add(setting, number_type(range));
  }
  void operator()(const Setting& setting, std::vector<double>& target,
                  const NumberRange<double>& range) const {
    add(setting, one_or_some(number_type(range)), target);
  }
  void operator()(const Setting& setting, bool& target) const {
    add(setting, {{"type", "boolean"}}, target);
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::optional<Enum>& /*target*/) const {
    add(setting, names_type<Enum>());
  }
  template <Named Enum>
  void operator()(const Setting& setting, std::vector<Enum>& target) const {
    add(setting, one_or_some(names_type<Enum>()), names_of(target));
  }
  void operator()(const Setting& setting, ConventionChoice& target) const {
    ordered_json type = names_type<Convention>();
    if (target.several) {
      type["enum"].push_back("both");
      type = one_or_some(std::move(type));
    }
    add(setting, std::move(type), name_of(target.names.front()));
  }
  void operator()(const Setting& setting, std::optional<Horizon>& /*target*/) const {
    add(setting, {{"anyOf", {{{"const", "certified"}}, number_type(kStepRange)}}});
  }
  void operator()(const Setting& setting, TokenChoice& /*target*/) const {
    ordered_json type = {{"type", "integer"}};
    const ordered_json list = {{"type", "array"}, {"items", type}, {"minItems", 1}};
    add(setting, {{"anyOf", {std::move(type), {{"type", "string"}}, list}}});
  }

 private:
  void add(const Setting& setting, ordered_json type, const ordered_json& standard = {}) const {
    if (!standard.is_null()) type["default"] = standard;
    type["description"] = setting.help;
    if (!setting.option.empty()) type["option"] = setting.option;
    properties[std::string(setting.key)] = std::move(type);
  }
};

void add_metrics(const SchemaProperties& into, bool several) {
  MetricsSettings settings;
  settings.convention.several = several;
  visit_settings(settings, into);
}

void add_heads(const SchemaProperties& into) {
  add_metrics(into, false);
  HeadValueOptions head_values;
  visit_settings(head_values, into);
  LossSettings loss;
  visit_settings(loss, into);
  StackSettings stack;
  visit_settings(stack, into);
  HeadTextSettings text;
  visit_settings(text, into);
}

/// By the calls' names.
const std::vector<std::pair<std::string, std::function<void(const SchemaProperties&)>>> kCalls = {
    {"graph", [](const SchemaProperties& into) { add_metrics(into, false); }},
    {"heads", add_heads},
    {"measure", [](const SchemaProperties& into) { add_metrics(into, true); }},
};

constexpr const char* kQuantities = "quantities";

ordered_json json_quantities() {
  ordered_json rows = ordered_json::array();
  for (const QuantityRow& row : kQuantityRows)
    rows.push_back({{"key", row.key},
                    {"symbol", row.symbol},
                    {"heading", row.heading},
                    {"label", row.label},
                    {"about", row.about},
                    {"unit", name_of(row.unit)},
                    {"better", name_of(row.better)},
                    {"owner", name_of(row.owner)},
                    {"summarised", row.summarised},
                    {"column", row.column},
                    {"wide", row.wide},
                    {"definition", fmt::format("theory.md#{}", row.anchor)}});
  return {{"quantities", std::move(rows)}};
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  names.reserve(kCalls.size() + 1);
  for (const auto& [name, add] : kCalls) names.push_back(name);
  names.emplace_back(kQuantities);
  return names;
}

std::string settings_schema(const std::string& name) {
  if (name == kQuantities) return json_text(json_quantities());
  for (const auto& [known, add] : kCalls) {
    if (known != name) continue;
    ordered_json properties = ordered_json::object();
    add(SchemaProperties{properties});
    return json_text({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", fmt::format("settings of {}", name)},
                      {"type", "object"},
                      {"properties", std::move(properties)}});
  }
  throw UsageError(fmt::format("no schema is named '{}': expected one of {}", name,
                               fmt::join(schema_names(), ", ")));
}

}  // namespace synergraph
