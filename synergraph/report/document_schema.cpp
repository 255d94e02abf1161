#include "synergraph/report/document_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "synergraph/core/error.h"
#include "synergraph/report/document_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;
using schema::Part;

const std::vector<Part>& parts() {
  static const std::vector<Part> all = [] {
    std::vector<Part> parts;
    for (const auto& more :
         {schema::measured_parts(), schema::study_parts(), schema::answer_parts()})
      parts.insert(parts.end(), more.begin(), more.end());
    return parts;
  }();
  return all;
}

constexpr const char* kDraft = "https://json-schema.org/draft/2020-12/schema";
constexpr const char* kEveryDocument = "documents";

const ordered_json& definitions() {
  static const ordered_json all = [] {
    ordered_json defs = ordered_json::object();
    for (const Part& part : parts()) {
      ordered_json& def = defs[part.name] = {{"description", part.about}};
      def.update(part.type);
    }
    return defs;
  }();
  return all;
}

/// Adds the parts that a type refers to.
void collect(const ordered_json& type, std::set<std::string>& names) {
  if (type.is_object() && type.contains("$ref")) {
    const std::string name =
        type.at("$ref").get<std::string>().substr(std::string_view("#/$defs/").size());
    if (names.insert(name).second) collect(definitions().at(name), names);
  }
  if (type.is_structured())
    for (const ordered_json& value : type) collect(value, names);
}

}  // namespace

std::vector<std::string> document_names() {
  std::vector<std::string> names;
  for (const Part& part : parts())
    if (!part.document.empty()) names.push_back(part.document);
  names.emplace_back(kEveryDocument);
  return names;
}

std::string document_schema(const std::string& name) {
  ordered_json schema = {{"$schema", kDraft}, {"title", name}};
  if (name == kEveryDocument) {
    for (const Part& part : parts())
      if (!part.document.empty()) schema["documents"][part.document] = part.name;
    schema["$defs"] = definitions();
    return json_text(schema);
  }
  for (const Part& part : parts()) {
    if (part.document != name || name.empty()) continue;
    schema.update(definitions().at(part.name));
    std::set<std::string> used;
    collect(part.type, used);
    for (const std::string& used_name : used)
      schema["$defs"][used_name] = definitions().at(used_name);
    return json_text(schema);
  }
  throw UsageError(fmt::format("no document is named '{}': expected one of {}", name,
                               fmt::join(document_names(), ", ")));
}

}  // namespace synergraph
