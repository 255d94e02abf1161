#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"

namespace synergraph::capi {

/// UsageError: the option is not what was expected.
[[noreturn]] void refuse(std::string_view key, const std::string& expected);

/// A number of the range.
template <class Number>
Number checked(std::string_view key, const nlohmann::json& value,
               const NumberRange<Number>& range) {
  if constexpr (std::integral<Number>) {
    if (value.is_number_unsigned()
            ? std::in_range<Number>(value.get<std::uint64_t>())
            : value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>()))
      if (const auto number = value.get<Number>(); range.contains(number)) return number;
  } else if (value.is_number()) {
    if (const auto number = value.get<Number>(); range.contains(number)) return number;
  }
  refuse(key, described(range));
}

/// A text.
std::string text_in(std::string_view key, const nlohmann::json& value);

/// A list that is not empty; one value alone is a list of one.
nlohmann::json listed(std::string_view key, const nlohmann::json& value);

/// The enum of a name. UsageError lists the names there are.
template <Named Enum>
Enum named_option(std::string_view key, const std::string& name) {
  if (const auto value = parse_name<Enum>(name)) return *value;
  throw UsageError(fmt::format("options: {}: {} is not one of {}", key, quoted_text(name),
                               fmt::join(all_names<Enum>(), ", ")));
}

/// The options of a call, a JSON object. Every key is taken once; what nobody took is an error.
class Options {
 public:
  /// UsageError unless the text, if there is any, is a JSON object.
  explicit Options(const char* text);

  /// The value of a key, if it is there and not null.
  std::optional<nlohmann::json> take(std::string_view key);

  /// Whether the key was there and not null, taken or not.
  bool given(std::string_view key) const { return given_.contains(key); }

  /// UsageError if a key is left.
  void finish() const;

 private:
  nlohmann::json object_;
  std::set<std::string, std::less<>> given_;
  std::vector<std::string> known_;
};

}  // namespace synergraph::capi
