#include "capi/option_names.h"

#include <cstddef>

namespace synergraph::capi {

std::string with_names_of_options(std::string_view text) {
  const auto is_letter = [&](std::size_t k) {
    return k < text.size() && text[k] >= 'a' && text[k] <= 'z';
  };
  std::string result;
  bool option = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    option = option && (is_letter(at) || (text[at] == '-' && is_letter(at + 1)));
    if ((at == 0 || text[at - 1] == ' ') && text.substr(at, 2) == "--" && is_letter(at + 2)) {
      option = true;
      at += 2;
    }
    result += option && text[at] == '-' ? '_' : text[at];
  }
  return result;
}

}  // namespace synergraph::capi
