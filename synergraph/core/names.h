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

/// Values and how they are spelt.
template <class Value, std::size_t kCount>
using NameTable = std::array<std::pair<Value, std::string_view>, kCount>;

/// The first name of a value in a table; empty if there is none.
template <class Value, std::size_t kCount>
constexpr std::string_view find_name(const NameTable<Value, kCount>& table, Value value) {
  for (const auto& [known, name] : table)
    if (known == value) return name;
  return {};
}

/// The value of a name in a table.
template <class Value, std::size_t kCount>
constexpr std::optional<Value> find_value(const NameTable<Value, kCount>& table,
                                          std::string_view name) {
  for (const auto& [value, known] : table)
    if (known == name) return value;
  return std::nullopt;
}

/// The names of an enum as the command line and all output spell them. Beside the enum stands
///   template <>
///   inline constexpr NameTable<Colour, 2> kNamesOf<Colour>{
///       {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};
template <class Enum>
inline constexpr std::nullptr_t kNamesOf = nullptr;

template <class Enum>
concept Named = requires {
  kNamesOf<Enum>.size();
};

/// The name of a value.
template <Named Enum>
constexpr std::string_view name_of(Enum value) {
  return find_name(kNamesOf<Enum>, value);
}

/// The value of a name, which must be exact.
template <Named Enum>
constexpr std::optional<Enum> parse_name(std::string_view name) {
  return find_value(kNamesOf<Enum>, name);
}

/// All names, in the order of the table.
template <Named Enum>
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : kNamesOf<Enum>) names.emplace_back(name);
  return names;
}

/// InputError for a value that has no name, an integer that was made one: "`what` 7 is none of
/// ...".
template <Named Enum>
void require_named(const std::string& what, Enum value) {
  if (!name_of(value).empty()) return;
  std::string names;
  for (const std::string& name : all_names<Enum>()) names += (names.empty() ? "" : ", ") + name;
  throw InputError(what + ' ' + std::to_string(static_cast<int>(value)) + " is none of " + names);
}

}  // namespace synergraph
#pragma GCC visibility pop
