#include "capi/option_names.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace synergraph::capi {

std::string with_names_of_options(std::string_view text) {
  const auto is_letter = [&](std::size_t k) {
    return k < text.size() && text[k] >= 'a' && text[k] <= 'z';
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if ((at > 0 && text[at - 1] != ' ') || text.substr(at, 2) != "--" || !is_letter(at + 2)) {
      result += text[at++];
      continue;
    }
    std::size_t end = at + 2;
    while (is_letter(end) || (end < text.size() && text[end] == '-' && is_letter(end + 1))) ++end;
    std::string name(text.substr(at + 2, end - at - 2));
    std::replace(name.begin(), name.end(), '-', '_');
    // Words that the languages keep for themselves, or that they have called otherwise before.
    result += name == "from" ? "from_tokens" : name == "to" ? "sink" : name;
    at = end;
  }
  return result;
}

}  // namespace synergraph::capi
