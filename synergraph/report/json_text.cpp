#include "synergraph/report/json_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace synergraph {

std::string json_text(const nlohmann::ordered_json& document) {
  const std::string text =
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // DEL and C1, U+0080 to U+009F, are commands to some terminals. They can only be in strings.
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto next = static_cast<unsigned char>(k + 1 < text.size() ? text[k + 1] : 0);
    if (text[k] == 0x7f)
      result += "\\u007f";
    else if (text[k] == '\xc2' && next >= 0x80 && next < 0xa0)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(text[++k]) & 0xffU);
    else
      result += text[k];
  }
  return result + '\n';
}

}  // namespace synergraph
