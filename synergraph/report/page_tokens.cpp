#include "synergraph/report/page_tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

using nlohmann::json;

/// The lines, without their ends; a last one that is empty is none.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool cut = end > begin && text[end - 1] == '\r';
    lines.push_back(text.substr(begin, end - begin - (cut ? 1 : 0)));
    begin = end + 1;
  }
  return lines;
}

json parse(const std::string& text, const std::string& where) {
  json value = json::parse(text, nullptr, false);
  if (!value.is_array()) throw InputError(where + ": expected a JSON list of names");
  return value;
}

std::vector<std::string> names_in(const json& list, const std::string& where) {
  if (!list.is_array()) throw InputError(where + ": expected a JSON list of names");
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const json& name : list) {
    if (!name.is_string())
      throw InputError(
          fmt::format("{}: name {} is not a string; put it into quotes", where, names.size()));
    names.push_back(name.get<std::string>());
  }
  return names;
}

TokenNames of_json_lines(const std::string& text, const std::string& file) {
  TokenNames lists;
  for (const std::string& line : lines_of(text)) {
    const std::string where = fmt::format("{}: line {}", file, lists.size() + 1);
    lists.push_back(names_in(parse(line, where), where));
  }
  return lists;
}

}  // namespace

TokenNames token_names_in_json(const std::string& text, const std::string& name) {
  const json value = parse(text, name);
  if (value.empty() || !value.front().is_array()) return {names_in(value, name)};
  TokenNames lists;
  for (const json& list : value)
    lists.push_back(names_in(list, fmt::format("{}: list {}", name, lists.size())));
  return lists;
}

TokenNames parse_token_names(const std::string& text, const std::string& file) {
  if (file.ends_with(".json")) return token_names_in_json(text, file);
  if (file.ends_with(".jsonl")) return of_json_lines(text, file);
  return {lines_of(text)};
}

void check_token_names(const TokenNames& names, int samples, int tokens, const std::string& file) {
  const std::size_t lists = names.size();
  if (lists != 1 && lists != static_cast<std::size_t>(samples))
    throw InputError(
        fmt::format("{}: {} lists of names for {} samples; give one list, or one for every sample",
                    file, lists, samples));
  for (std::size_t k = 0; k < lists; ++k) {
    if (names[k].size() == static_cast<std::size_t>(tokens)) continue;
    const std::string where = lists == 1 ? file : fmt::format("{}: list {}", file, k);
    throw InputError(
        fmt::format("{}: {} names for {} tokens; give one name for each token that is measured",
                    where, names[k].size(), tokens));
  }
}

}  // namespace synergraph
