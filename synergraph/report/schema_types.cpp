#include "synergraph/report/schema_types.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/report/settings_schema.h"

namespace synergraph::schema {

ordered_json of_type(const char* name) {
  return {{"type", name}};
}

ordered_json text() {
  return of_type("string");
}

ordered_json flag() {
  return of_type("boolean");
}

ordered_json number() {
  return of_type("number");
}

ordered_json maybe() {
  return {{"type", ordered_json::array({"number", "null"})}};
}

ordered_json count() {
  return {{"type", "integer"}, {"minimum", 0}};
}

ordered_json just(ordered_json value) {
  return {{"const", std::move(value)}};
}

ordered_json part(const std::string& name) {
  return {{"$ref", "#/$defs/" + name}};
}

ordered_json one_of(const std::vector<std::string>& names) {
  return {{"enum", names}};
}

ordered_json either(ordered_json one, ordered_json other) {
  return {{"anyOf", ordered_json::array({std::move(one), std::move(other)})}};
}

ordered_json or_null(ordered_json type) {
  return either(std::move(type), of_type("null"));
}

ordered_json list(ordered_json items, int least) {
  ordered_json type = {{"type", "array"}, {"items", std::move(items)}};
  if (least > 0) type["minItems"] = least;
  return type;
}

ordered_json tuple(ordered_json items, int size) {
  ordered_json type = list(std::move(items), size);
  type["maxItems"] = size;
  return type;
}

ordered_json record(ordered_json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

ordered_json object(const Fields& fields) {
  ordered_json properties = ordered_json::object();
  ordered_json patterns = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const auto& [key, type, about, presence] : fields) {
    ordered_json property = type;
    if (!about.empty()) property["description"] = about;
    if (presence == kSince) property["$comment"] = "since a later program of this version";
    if (const std::size_t eps = key.find("EPS"); eps != std::string::npos) {
      patterns[fmt::format("^{}[0-9.e+-]+$", key.substr(0, eps))] = std::move(property);
      continue;
    }
    properties[key] = std::move(property);
    if (presence == Presence::kAlways) required.push_back(key);
  }
  ordered_json type = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!patterns.empty()) type["patternProperties"] = std::move(patterns);
  type["required"] = std::move(required);
  type["additionalProperties"] = false;
  return type;
}

Fields operator+(Fields fields, const Fields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::string about(const QuantityRow& row) {
  return fmt::format("{}: {}", row.label, row.about);
}

Field of_row(std::string_view key, ordered_json type) {
  return {std::string(key), std::move(type), about(row_of(key))};
}

bool of_system(const QuantityRow& row) {
  return row.owner == Owner::kSystem;
}

bool of_layer(const QuantityRow& row) {
  return row.owner != Owner::kSystem;
}

ordered_json summary(const QuantityRow& /*row*/) {
  return part("Summary");
}

Fields head_of(const DocumentId& id) {
  ordered_json versions = ordered_json::array();
  for (int version = id.oldest; version <= id.version; ++version) versions.push_back(version);
  return {{"schema", just(id.name), "name of the document"},
          {"schema_version",
           versions.size() > 1 ? ordered_json({{"enum", versions}}) : just(id.version),
           "grows when a field changes its meaning or is removed"},
          {"program", text(), "version of the program"},
          {"isa", text(), "instruction set of the kernels", kSince}};
}

Fields without(Fields fields, std::string_view key) {
  std::erase_if(fields, [&](const Field& field) { return field.key == key; });
  return fields;
}

Field setting(const std::string& key) {
  static const ordered_json settings = [] {
    const auto of = [](const char* call) {
      return ordered_json::parse(settings_schema(call)).at("properties").get<ordered_json>();
    };
    ordered_json all = of("measure");
    all.update(of("heads"));
    return all;
  }();
  ordered_json type = settings.at(key);
  auto help = type.at("description").get<std::string>();
  for (const char* of_input : {" (default", " (the program", ", or a list"})
    help = help.substr(0, help.find(of_input));
  type.erase("description");
  for (const char* of_settings : {"default", "group", "faces", "argument", "required_by", "option"})
    type.erase(of_settings);
  return {key, std::move(type), std::move(help)};
}

Field one_setting(const std::string& key) {
  Field field = setting(key);
  field.type = ordered_json(field.type.at("anyOf").at(0));
  return field;
}

Field list_setting(const std::string& key) {
  Field field = setting(key);
  field.type = ordered_json(field.type.at("anyOf").at(1));
  return field;
}

}  // namespace synergraph::schema
