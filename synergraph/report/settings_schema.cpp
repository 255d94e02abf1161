#include "synergraph/report/settings_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "synergraph/analysis/game_settings.h"
#include "synergraph/core/names.h"
#include "synergraph/gradients/gradient_settings.h"
#include "synergraph/heads/quantity_rows.h"
#include "synergraph/io/file_format.h"
#include "synergraph/io/file_writer.h"
#include "synergraph/report/command_settings.h"
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

ordered_json face_names(unsigned faces) {
  ordered_json names = ordered_json::array();
  if ((faces & face::kProgram) != 0) names.push_back("program");
  if ((faces & face::kC) != 0) names.push_back("c");
  if ((faces & face::kPython) != 0) names.push_back("python");
  return names;
}

/// Collects the properties of a schema from descriptions of settings.
struct SchemaProperties {
  ordered_json& properties;

  template <class Target, class... Range>
  void operator()(const Setting& setting, const Target& target, const Range&... range) const {
    if (setting.faces == 0) return;
    ordered_json property = type_of(target, range...);
    if (ordered_json value = standard(target); !value.is_null())
      property["default"] = std::move(value);
    property["description"] = setting.help;
    property["group"] = setting.group;
    property["faces"] = face_names(setting.faces);
    if (setting.positional) property["argument"] = setting.value;
    if (const std::string option = option_name(setting.key);
        setting.offered(face::kProgram) && option != plain_option_name(setting.key))
      property["option"] = option;
    if (setting.required) property["required_by"] = {"program"};
    add(std::string(setting.key), setting.faces, std::move(property));
  }

 private:
  /// A setting that faces have in several lists has the faces of all, and a default if they agree.
  void add(const std::string& key, unsigned faces, ordered_json property) const {
    if (const auto known = properties.find(key); known != properties.end()) {
      for (const auto& [bit, name] : {std::pair(face::kProgram, "program"),
                                      std::pair(face::kC, "c"), std::pair(face::kPython, "python")})
        if (std::ranges::find((*known)["faces"], name) != (*known)["faces"].end()) faces |= bit;
      property["faces"] = face_names(faces);
      if (known->value("default", ordered_json()) != property.value("default", ordered_json()))
        property.erase("default");
    }
    properties[key] = std::move(property);
  }

  template <class Number>
  static ordered_json type_of(const Number&, const NumberRange<Number>& range) {
    return number_type(range);
  }
  template <class Number>
  static ordered_json type_of(const std::optional<Number>&, const NumberRange<Number>& range) {
    return number_type(range);
  }
  template <class Number>
  static ordered_json type_of(const std::vector<Number>&, const NumberRange<Number>& range) {
    return one_or_some(number_type(range));
  }
  static ordered_json type_of(const bool&) { return {{"type", "boolean"}}; }
  static ordered_json type_of(const std::optional<bool>&) { return {{"type", "boolean"}}; }
  static ordered_json type_of(const std::string&) { return {{"type", "string"}}; }
  static ordered_json type_of(const std::vector<std::string>&) {
    return one_or_some({{"type", "string"}});
  }
  template <Named Enum>
  static ordered_json type_of(const Enum&) {
    return names_type<Enum>();
  }
  template <Named Enum>
  static ordered_json type_of(const std::optional<Enum>&) {
    return names_type<Enum>();
  }
  template <Named Enum>
  static ordered_json type_of(const std::vector<Enum>&) {
    return one_or_some(names_type<Enum>());
  }
  static ordered_json type_of(const ConventionChoice& choice) {
    ordered_json type = names_type<Convention>();
    if (!choice.several) return type;
    type["enum"].push_back("both");
    return one_or_some(std::move(type));
  }
  static ordered_json type_of(const std::optional<Horizon>&) {
    return {{"anyOf", {{{"const", "certified"}}, number_type(kStepRange)}}};
  }
  static ordered_json type_of(const TokenChoice&) {
    const ordered_json token = {{"type", "integer"}};
    return {
        {"anyOf",
         {token, {{"type", "string"}}, {{"type", "array"}, {"items", token}, {"minItems", 1}}}}};
  }
  static ordered_json type_of(const std::optional<TokenRange>&) {
    const ordered_json end = {
        {"anyOf", {{{"type", "integer"}, {"minimum", 0}}, {{"type", "null"}}}}};
    return {{"type", "array"},
            {"prefixItems", {{{"type", "integer"}, {"minimum", 0}}, end}},
            {"minItems", 2},
            {"maxItems", 2}};
  }
  static ordered_json type_of(const std::optional<GivenReading>&) { return {{"type", "object"}}; }

  template <class Target>
  static ordered_json standard(const Target& value) {
    return value;
  }
  template <class Target>
  static ordered_json standard(const std::optional<Target>& /*value*/) {
    return nullptr;
  }
  static ordered_json standard(const TokenChoice& /*tokens*/) { return nullptr; }
  template <class Target>
  static ordered_json standard(const std::vector<Target>& values) {
    return values.empty() ? ordered_json() : ordered_json(values);
  }
  static ordered_json standard(const std::string& value) {
    return value.empty() ? ordered_json() : ordered_json(value);
  }
  template <Named Enum>
  static ordered_json standard(const Enum& value) {
    return name_of(value);
  }
  template <Named Enum>
  static ordered_json standard(const std::vector<Enum>& values) {
    return names_of(values);
  }
  static ordered_json standard(const ConventionChoice& choice) {
    return name_of(choice.names.front());
  }
};

using Collect = void (*)(const SchemaProperties& into);

template <class Settings>
void collect(const SchemaProperties& into) {
  Settings settings;
  visit_settings(settings, into);
}

/// The commands, and the calls of the C interface that have no command. The program's analyze is
/// sg_measure().
const std::vector<std::pair<std::string, Collect>> kCalls = {
    {"ablate", collect<AblationSettings>},
    {"agreement", collect<AgreementSettings>},
    {"measure", collect<AnalyzeSettings>},
    {"heads", collect<HeadsCommandSettings>},
    {"compare", collect<CompareCommandSettings>},
    {"graph", collect<GraphSettings>},
    {"families", collect<FamiliesCommandSettings>},
    {"design", collect<DesignCommandSettings>},
    {"train", collect<RunSettings>},
    {"reproduce", collect<ReproduceSettings>},
    {"verify", collect<VerifySettings>},
    {"inspect", collect<InspectSettings>},
    {"convert", collect<ConvertSettings>},
    {"status", collect<StatusSettings>},
    {"completions", collect<CompletionsSettings>},
    {"schema", collect<SchemaSettings>},
    {"attention_create", collect<ArraySettings>},
    {"attention_open", collect<AttentionFileSettings>},
    {"attention_stack", collect<SignalSettings>},
    {"write_page", collect<PageCallSettings>},
    {"model_open", collect<CheckpointSettings>},
    {"model_attention", collect<ModelAttentionSettings>},
    {"system", collect<SystemSettings>},
    {"system_curves", collect<CurveSettings>},
    {"system_steps", collect<StepSettings>},
    {"gradient", collect<GradientSettings>},
};

constexpr const char* kQuantitiesSchema = "quantities";
constexpr const char* kFormatsSchema = "formats";

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

ordered_json json_formats() {
  ordered_json rows = ordered_json::array();
  for (const FormatRow& row : file_formats())
    rows.push_back({{"name", name_of(row.format)},
                    {"endings", std::vector<std::string>(row.endings.begin(), row.endings.end())},
                    {"about", row.about},
                    {"written", find_writer(row.endings.front()) != nullptr},
                    {"in_page", row.in_page}});
  return {{"formats", std::move(rows)}};
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kCalls) + 2);
  for (const auto& [name, add] : kCalls) names.emplace_back(name);
  names.insert(names.end(), {kQuantitiesSchema, kFormatsSchema});
  return names;
}

std::string settings_schema(const std::string& name) {
  if (name == kQuantitiesSchema) return json_text(json_quantities());
  if (name == kFormatsSchema) return json_text(json_formats());
  for (const auto& [known, add] : kCalls) {
    if (known != name) continue;
    ordered_json properties = ordered_json::object();
    add(SchemaProperties{properties});
    if (name == "schema") properties["name"]["enum"] = schema_names();
    return json_text({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", fmt::format("settings of {}", name)},
                      {"type", "object"},
                      {"properties", std::move(properties)}});
  }
  throw UsageError(fmt::format("no schema is named '{}': expected one of {}", name,
                               fmt::join(schema_names(), ", ")));
}

}  // namespace synergraph
