#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/heads/quantity_rows.h"
#include "synergraph/report/documents.h"

/// The words in which documents are described: types of JSON Schema, and fields of objects.
namespace synergraph::schema {

using nlohmann::ordered_json;

/// When a document has a field.
enum class Presence {
  kAlways,
  kSometimes,
  kSince,  ///< always; documents of earlier programs, but of the same version, lack it
};
inline constexpr Presence kSometimes = Presence::kSometimes;
inline constexpr Presence kSince = Presence::kSince;

struct Field {
  std::string key;
  ordered_json type;
  std::string about = {};
  Presence presence = Presence::kAlways;
};
using Fields = std::vector<Field>;

ordered_json of_type(const char* name);
ordered_json text();
ordered_json flag();
ordered_json number();
ordered_json maybe();  ///< a number or null
ordered_json count();
ordered_json just(ordered_json value);
ordered_json one_of(const std::vector<std::string>& names);
template <Named Enum>
ordered_json names() {
  return one_of(all_names<Enum>());
}
ordered_json part(const std::string& name);  ///< a named part: document_parts.h
ordered_json either(ordered_json one, ordered_json other);
ordered_json or_null(ordered_json type);
ordered_json list(ordered_json items, int least = 0);
ordered_json tuple(ordered_json items, int size);
ordered_json record(ordered_json values);
/// A closed object. EPS in a key stands for a number.
ordered_json object(const Fields& fields);

Fields operator+(Fields fields, const Fields& more);
Fields without(Fields fields, std::string_view key);

/// What every document begins with.
Fields head_of(const DocumentId& id);
/// What a setting is in a document: as it is described, without its default.
Field setting(const std::string& key);
/// The same of a setting that is one value or a list of them: one value, or always the list.
Field one_setting(const std::string& key);
Field list_setting(const std::string& key);

/// A quantity in words.
std::string about(const QuantityRow& row);
/// The field of a quantity.
Field of_row(std::string_view key, ordered_json type);
/// The fields of the quantities over samples that are wanted.
template <class Wanted, class Type>
Fields of_rows(const Wanted& wanted, const Type& type, Presence presence = Presence::kAlways) {
  Fields fields;
  for (const QuantityRow& row : kQuantityRows)
    if (row.summarised && wanted(row))
      fields.push_back({std::string(row.key), type(row), about(row), presence});
  return fields;
}
bool of_system(const QuantityRow& row);
bool of_layer(const QuantityRow& row);
/// The type of a quantity over samples.
ordered_json summary(const QuantityRow& row);

}  // namespace synergraph::schema
