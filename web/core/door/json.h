#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

/// JSON text of small things; nlohmann's would be larger than all of them.
namespace synergraph::door {

inline std::string json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < ' ')
      quoted += fmt::format("\\u{:04x}", c);
    else
      quoted += c;
  }
  return quoted + '"';
}
inline std::string json(const std::string& text) {
  return json(std::string_view(text));
}
inline std::string json(int number) {
  return fmt::format("{}", number);
}
inline std::string json(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

/// A list of what `text_of` makes of each.
template <class Items, class TextOf>
std::string json_list(const Items& items, TextOf text_of) {
  std::string list;
  for (const auto& item : items) {
    list += list.empty() ? '[' : ',';
    list += text_of(item);
  }
  return list.empty() ? "[]" : list + ']';
}
template <class Item>
std::string json(const std::vector<Item>& items) {
  return json_list(items, [](const Item& item) { return json(item); });
}

}  // namespace synergraph::door
