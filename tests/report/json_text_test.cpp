#include "synergraph/report/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace synergraph {
namespace {

TEST(JsonText, HasNoControlCharacters) {
  const nlohmann::ordered_json document = {{"a", "\x1b\x7f\xc2\x9b\xc2\xa0é"}};
  EXPECT_EQ(json_text(document), "{\n  \"a\": \"\\u001b\\u007f\\u009b\xc2\xa0é\"\n}\n");
  EXPECT_EQ(nlohmann::ordered_json::parse(json_text(document)), document);
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(json_text("a\xff"), "\"a\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace synergraph
