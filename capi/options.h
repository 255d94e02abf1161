#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"
#include "synergraph/heads/attention_source.h"

namespace synergraph::capi {

/// UsageError: the option is not what was expected.
[[noreturn]] void refuse(std::string_view key, const std::string& expected);

/// A number of the range.
double checked(std::string_view key, const nlohmann::json& value, const NumberRange<double>& range);
std::int64_t checked(std::string_view key, const nlohmann::json& value,
                     const NumberRange<std::int64_t>& range);

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

  /// The value of a key, if it is there and not null. UsageError if it is of another kind or out of
  /// its range.
  std::optional<bool> take_bool(std::string_view key);
  std::optional<std::string> take_text(std::string_view key);
  std::optional<std::int64_t> take_count(std::string_view key, std::int64_t least,
                                         std::int64_t most);
  std::optional<double> take_number(std::string_view key, double least, double most);
  /// One number, or a list of them that is not empty.
  std::optional<std::vector<double>> take_numbers(std::string_view key, double least, double most);
  /// One whole number, or a list of them; none if it is not there.
  std::vector<std::int64_t> take_counts(std::string_view key, std::int64_t least,
                                        std::int64_t most);
  /// One text, or a list of them that is not empty.
  std::optional<std::vector<std::string>> take_texts(std::string_view key);
  /// A name of an enum.
  template <Named Enum>
  std::optional<Enum> take_name(std::string_view key) {
    const std::optional<std::string> name = take_text(key);
    return name ? std::optional(named_option<Enum>(key, *name)) : std::nullopt;
  }
  /// Any value.
  std::optional<nlohmann::json> take(std::string_view key);
  /// [begin, end], the latter perhaps null; all tokens if it is not there.
  TokenRange take_range(std::string_view key);

  /// Whether the key is there.
  bool has(std::string_view key) const { return object_.contains(key) && !object_[key].is_null(); }

  /// UsageError if a key is left.
  void finish() const;

 private:
  nlohmann::json object_;
  std::vector<std::string> known_;
};

}  // namespace synergraph::capi
