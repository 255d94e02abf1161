#pragma once

// What the script of an interactive page finds in it.

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace synergraph::testing_support {

/// The text of the only element with this id.
inline std::string element_text(const std::string& page, const std::string& id) {
  const std::size_t mark = page.find("id=\"" + id + "\">");
  if (mark == std::string::npos) return "";
  const std::size_t begin = page.find('>', mark) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

/// The data of a page; nothing in them but what JSON has and HTML does not.
inline nlohmann::json page_data(const std::string& page) {
  const std::string text = element_text(page, "synergraph-data");
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(text.find("\u2028"), std::string::npos);
  EXPECT_EQ(text.find("\u2029"), std::string::npos);
  return nlohmann::json::parse(text);
}

/// Its arrays: base64 without gaps, padded at the end.
inline std::vector<unsigned char> page_arrays(const std::string& page) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string text = element_text(page, "synergraph-arrays");
  EXPECT_EQ(text.size() % 4, 0U);
  std::vector<unsigned char> bytes;
  for (std::size_t k = 0; k + 4 <= text.size(); k += 4) {
    unsigned group = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t digit = kDigits.find(text[k + c]);
      const bool padding = text[k + c] == '=' && k + 4 == text.size() && c >= 2;
      EXPECT_TRUE(padding || digit < 64) << text[k + c];
      group = group << 6U | static_cast<unsigned>(padding ? 0 : digit);
    }
    for (const unsigned shift : {16U, 8U, 0U})
      bytes.push_back(static_cast<unsigned char>(group >> shift & 255U));
  }
  for (std::size_t k = text.size(); k > 0 && text[k - 1] == '=' && !bytes.empty(); --k)
    bytes.pop_back();
  return bytes;
}

}  // namespace synergraph::testing_support
