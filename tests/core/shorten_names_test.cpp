#include "synergraph/core/shorten_names.h"

#include <gtest/gtest.h>

#include <set>

#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

std::vector<std::string> numbered(const std::string& before, const std::string& after, int count) {
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back(before + std::to_string(k) + after);
  return names;
}

TEST(ShortenNames, NamesThatDifferStillDo) {
  std::vector<std::vector<std::string>> lists = {
      numbered("model.layers.", ".self_attn.probs", 112),
      numbered("東京東京東京東京", "東京東京東京東京", 12),
      {"aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaa"},
      {"layer.0.a.long.one.query", "layer.1.b.other.x.query", "layer.1.b.other.y.query"},
      {"éééééééèéééééé", "éééééééêéééééé"},
      {"a…b~1", "a23456789b", "a23465789b", "a2346578999b"}};
  lists.push_back(numbered("model.layers.", ".query", 12));
  for (const std::string& name : numbered("model.layers.", ".keys", 12))
    lists.back().push_back(name);
  for (const auto& names : lists)
    for (std::size_t columns = 5; columns < 40; ++columns) {
      const std::vector<std::string> cut = shorten_names(names, columns);
      EXPECT_EQ(std::set<std::string>(cut.begin(), cut.end()).size(), names.size())
          << names.front() << ' ' << columns;
      for (std::size_t k = 0; k < names.size(); ++k) {
        EXPECT_LE(display_width(cut[k]), columns);
        EXPECT_EQ(printable(cut[k]), cut[k]) << "no character is broken";
      }
    }
}

TEST(ShortenNames, AreCutWhereTheyAgree) {
  const auto cut = shorten_names(numbered("model.layers.", ".self_attn.probs", 12), 20);
  EXPECT_EQ(cut[1], "model.la…1…tn.probs");
  EXPECT_EQ(cut[11], "model.la…11…tn.probs");
  // What is no threat to the others, and what is the same, stays the same.
  EXPECT_EQ(shorten_names({"layer.10.weight", "x", "layer.10.weight"}, 9),
            (std::vector<std::string>{"laye…ight", "x", "laye…ight"}));
  EXPECT_EQ(shorten_names({}, 3), std::vector<std::string>{});
}

TEST(SharedEnds, EndBeforeTheNumberInWhichNamesDiffer) {
  const SharedEnds shared = shared_ends({"a.10.b", "a.11.b", "a.110.b"});
  EXPECT_EQ(shared.before, 2U);
  EXPECT_EQ(shared.after, 2U);
  EXPECT_EQ(shared_ends({"aa", "aaa"}).before, 2U);
  EXPECT_EQ(shared_ends({"aa", "aaa"}).after, 0U) << "they do not overlap";
}

}  // namespace
}  // namespace synergraph
