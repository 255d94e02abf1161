#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Pairs of a value and the name of the value.
template <class Value, std::size_t kCount>
using NameTable = std::array<std::pair<Value, std::string_view>, kCount>;

/// Returns the first name of a value in a table, or an empty text if the value has no name.
template <class Value, std::size_t kCount>
constexpr std::string_view find_name(const NameTable<Value, kCount>& table, Value value) {
  for (const auto& [known, name] : table)
    if (known == value) return name;
  return {};
}

/// Returns the value of a name in a table, or nothing if the table does not contain the name.
template <class Value, std::size_t kCount>
constexpr std::optional<Value> find_value(const NameTable<Value, kCount>& table,
                                          std::string_view name) {
  for (const auto& [value, known] : table)
    if (known == name) return value;
  return std::nullopt;
}

/// The names of an enum in the command line and in all output. A specialisation stands next to the
/// enum:
///   template <>
///   inline constexpr NameTable<Colour, 2> kNamesOf<Colour>{
///       {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
template <class Enum>
inline constexpr std::nullptr_t kNamesOf = nullptr;

template <class Enum>
concept Named = requires {
  kNamesOf<Enum>.size();
};

/// Returns the name of a value.
template <Named Enum>
constexpr std::string_view name_of(Enum value) {
  return find_name(kNamesOf<Enum>, value);
}

/// Returns the value of a name. The name must match exactly.
template <Named Enum>
constexpr std::optional<Enum> parse_name(std::string_view name) {
  return find_value(kNamesOf<Enum>, name);
}

/// Returns all names in the order of the table.
template <Named Enum>
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : kNamesOf<Enum>) names.emplace_back(name);
  return names;
}

/// Throws InputError if the value has no name, as after a cast from an integer. The message is
/// "`what` 7 is none of ...".
template <Named Enum>
void require_named(const std::string& what, Enum value) {
  if (!name_of(value).empty()) return;
  std::string names;
  for (const std::string& name : all_names<Enum>()) names += (names.empty() ? "" : ", ") + name;
  throw InputError(what + ' ' + std::to_string(static_cast<int>(value)) + " is none of " + names);
}

}  // namespace synergraph
#pragma GCC visibility pop
