#include "synergraph/core/shorten_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

/// A byte within a character of UTF-8.
bool is_inner(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Each short text, and the names that it stands for.
using Groups = std::map<std::string, std::vector<std::string>>;

Groups by_short_text(const std::map<std::string, std::string>& short_of) {
  Groups groups;
  for (const auto& [name, text] : short_of) groups[text].push_back(name);
  return groups;
}

/// The names with the part in which they differ whole, as far as it fits, and the ends of what they
/// share beside it.
void cut_where_they_agree(const std::vector<std::string>& names, std::size_t columns,
                          std::map<std::string, std::string>& short_of) {
  const SharedEnds shared = shared_ends(names);
  const auto differing = [&](const std::string& name) {
    return name.substr(shared.before, name.size() - shared.before - shared.after);
  };
  std::size_t widest = 0;
  for (const std::string& name : names) widest = std::max(widest, display_width(differing(name)));
  const std::size_t room = columns - std::min(columns, widest);
  const std::string& first = names.front();
  const std::string begin = cut_end(first.substr(0, shared.before), room / 2);
  const std::string end =
      cut_begin(first.substr(first.size() - shared.after), room - display_width(begin));
  for (const std::string& name : names)
    short_of[name] = cut_middle(fmt::format("{}{}{}", begin, differing(name), end), columns);
}

}  // namespace

SharedEnds shared_ends(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::string& first = names.front();
  SharedEnds shared{first.size(), first.size()};
  for (const std::string& name : names) {
    const auto differ = std::mismatch(first.begin(), first.end(), name.begin(), name.end());
    shared.before = std::min(shared.before, static_cast<std::size_t>(differ.first - first.begin()));
  }
  const auto within_character = [&](std::size_t place) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return place < name.size() && is_inner(name[place]);
    });
  };
  while (shared.before > 0 &&
         (is_digit(first[shared.before - 1]) || within_character(shared.before)))
    --shared.before;
  for (const std::string& name : names) {
    const auto from_end = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend());
    shared.after = std::min({shared.after, name.size() - shared.before,
                             static_cast<std::size_t>(from_end.first - first.rbegin())});
  }
  while (shared.after > 0 && (is_digit(first[first.size() - shared.after]) ||
                              is_inner(first[first.size() - shared.after])))
    --shared.after;
  return shared;
}

std::vector<std::string> shorten_names(const std::vector<std::string>& names, std::size_t columns) {
  std::map<std::string, std::string> short_of;
  for (const std::string& name : names) short_of[name] = cut_middle(name, columns);
  for (const auto& [text, group] : by_short_text(short_of))
    if (group.size() > 1) cut_where_they_agree(group, columns, short_of);
  Groups groups = by_short_text(short_of);
  std::map<std::string, std::size_t> counted;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    std::string& text = short_of[name];
    const auto group = groups.find(text);
    if (group != groups.end() && group->second.size() > 1) {
      std::string number;
      do {
        number = fmt::format("~{}", ++counted[group->first]);
        text = cut_middle(group->first, columns - std::min(columns, number.size()));
        text += number;
        text = cut_begin(text, columns);
      } while (groups.contains(text) && number.size() < columns);
      groups[text].push_back(name);
    }
    result.push_back(text);
  }
  return result;
}

}  // namespace synergraph
