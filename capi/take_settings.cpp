#include "capi/take_settings.h"

#include <algorithm>

namespace synergraph::capi {

using nlohmann::json;

void TakeSettings::read(Key key, const Json& value, bool& target) {
  if (!value.is_boolean()) refuse(key, "true or false");
  target = value.get<bool>();
}

void TakeSettings::read(Key key, const Json& value, std::optional<bool>& target) {
  read(key, value, target.emplace());
}

void TakeSettings::read(Key key, const Json& value, std::string& target) {
  target = text_in(key, value);
}

void TakeSettings::read(Key key, const Json& value, std::vector<std::string>& target) {
  target.clear();
  for (const json& one : listed(key, value)) target.push_back(text_in(key, one));
}

void TakeSettings::read(Key key, const Json& value, ConventionChoice& target) {
  if (value == "both") {
    target.names = {Convention::kExact, Convention::kPublished};
  } else {
    target.names.clear();
    for (const json& one : listed(key, value)) {
      const std::string text = text_in(key, one);
      const auto known = parse_name<Convention>(text);
      if (!known)
        throw UsageError(fmt::format("options: {}: {} is not one of {}{}", key, quoted_text(text),
                                     fmt::join(all_names<Convention>(), ", "),
                                     target.several ? ", both" : ""));
      if (std::find(target.names.begin(), target.names.end(), *known) != target.names.end())
        throw UsageError(fmt::format("options: the convention {} is given twice", text));
      target.names.push_back(*known);
    }
  }
  if (!target.several && target.names.size() > 1)
    throw UsageError(fmt::format("options: {}: expected one convention, {}, not both", key,
                                 fmt::join(all_names<Convention>(), " or ")));
}

void TakeSettings::read(Key key, const Json& value, std::optional<Horizon>& target) {
  if (value.is_string() && value != "certified") refuse(key, "\"certified\" or a number of steps");
  target = Horizon{value.is_string() ? 0 : checked(key, value, kStepRange)};
}

void TakeSettings::read(Key key, const Json& value, std::optional<TokenRange>& target) {
  const NumberRange<std::int64_t> positions;
  if (!value.is_array() || value.size() != 2) refuse(key, "a list of two tokens, [begin, end]");
  TokenRange& range = target.emplace();
  range.begin = checked(key, value[0], positions);
  if (!value[1].is_null()) range.end = checked(key, value[1], positions);
}

void TakeSettings::read(Key key, const Json& value, TokenChoice& target) {
  std::vector<std::string> parts;
  for (const Json& one : value.is_array() ? value : Json::array({value})) {
    if (!one.is_string() && !one.is_number_integer()) refuse(key, "tokens");
    parts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  target = TokenChoice(fmt::format("{}", fmt::join(parts, ",")), option_mark(key));
}

void TakeSettings::read(Key key, const Json& value, std::optional<GivenReading>& target) {
  GivenReading& reading = target.emplace();
  try {
    for (const json& array : value.at("arrays"))
      reading.arrays.emplace_back(array.at(0).get<Shape>(), array.at(1).get<std::string>());
    reading.each = value.at("each").get<std::string>();
    reading.by_default = value.at("by_default").get<bool>();
  } catch (const json::exception&) {
    refuse(key, R"({"arrays", "each", "by_default"})");
  }
}

}  // namespace synergraph::capi
