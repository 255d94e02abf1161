#include "synergraph/graph/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"

namespace synergraph {
namespace {

/// The senders of every node, itself left out.
std::vector<std::vector<int>> senders(const SparseGraph& graph) {
  std::vector<std::vector<int>> heard(static_cast<std::size_t>(graph.nodes()));
  for (int j = 0; j < graph.nodes(); ++j)
    for (const int i : graph.receivers(j)) heard[static_cast<std::size_t>(i)].push_back(j);
  return heard;
}

std::string refusal(const char* description) {
  try {
    generate_family(description);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// The statistic of a chi-squared test that counts are uniform, in standard deviations above its
/// mean.
double excess(const std::vector<double>& counts) {
  double total = 0.0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0.0;
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1.0;
  return (statistic - freedom) / std::sqrt(2.0 * freedom);
}

TEST(FixedIndegree, GivesEveryNodeSoManyDistinctEarlierNodesUniformly) {
  const auto heard = senders(fixed_indegree_graph(300, 7, 3));
  for (std::size_t i = 0; i < heard.size(); ++i)
    EXPECT_EQ(heard[i].size(), std::min<std::size_t>(i, 7));
  // The last of 21 nodes hears each of the 20 others in 5 of 20 graphs on average. The counts of
  // one graph are negatively correlated, so the statistic is below that of independent counts.
  std::vector<double> counts(20);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto drawn = senders(fixed_indegree_graph(21, 5, seed));
    for (const int j : drawn[20]) ++counts[static_cast<std::size_t>(j)];
  }
  EXPECT_LT(excess(counts), 5.0);
  for (const double count : counts) EXPECT_NEAR(count, 1000.0, 5 * std::sqrt(4000 * 0.25 * 0.75));
}

TEST(OrientedExpander, IsRegularAndItsNodesAreInRandomOrder) {
  for (const auto& [nodes, degree] : std::vector<std::pair<int, int>>{
           {2, 1}, {4, 3}, {10, 4}, {51, 6}, {300, 3}, {64, 63}, {5, 0}}) {
    const SparseGraph graph = oriented_expander_graph(nodes, degree, 5);
    const auto heard = senders(graph);
    for (int j = 0; j < nodes; ++j)
      EXPECT_EQ(graph.receivers(j).size() + heard[static_cast<std::size_t>(j)].size(),
                static_cast<std::size_t>(degree));
  }
  // Any two of 8 nodes are joined in 3 of 7 graphs of degree 3.
  std::vector<double> counts(28);
  constexpr int kGraphs = 4000;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const SparseGraph graph = oriented_expander_graph(8, 3, seed);
    std::size_t pair = 0;
    for (int j = 0; j < 8; ++j)
      for (int i = j + 1; i < 8; ++i, ++pair)
        for (const int receiver : graph.receivers(j)) counts[pair] += receiver == i ? 1 : 0;
  }
  const double p = 3.0 / 7.0;
  for (const double count : counts)
    EXPECT_NEAR(count, kGraphs * p, 5 * std::sqrt(kGraphs * p * (1 - p)));
}

TEST(Poisson, SkipsNodesAtItsRateUntilTheBudgetIsSpent) {
  const SparseGraph graph = poisson_graph(20000, 0.2, 9, 1);
  const auto heard = senders(graph);
  std::map<int, double> gaps;
  double total = 0.0;
  for (std::size_t i = 100; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].size(), 8U);  // and the self-loop
    int before = static_cast<int>(i);
    for (auto j = heard[i].rbegin(); j != heard[i].rend(); before = *j++, ++total)
      ++gaps[before - *j];
  }
  for (int gap = 1; gap <= 4; ++gap) {  // 0.8 0.2^(gap - 1)
    const double p = 0.8 * std::pow(0.2, gap - 1);
    EXPECT_NEAR(gaps[gap], total * p, 5 * std::sqrt(total * p * (1 - p))) << gap;
  }
  EXPECT_EQ(poisson_graph(50, 0.0, 4, 1).dense().edges(), window_graph(50, 3).edges());
  EXPECT_EQ(poisson_graph(50, 0.5, 1, 1).edge_count(), 50);
}

TEST(Fs, JoinsConsecutiveBlocksByMatchings) {
  // 1,024 nodes are ten blocks of 102 or 103.
  const int nodes = 1024;
  const int matchings = 12;
  const SparseGraph graph = fs_sparse_graph(nodes, matchings, 0.0, 4);  // one from level 1 on
  const auto heard = senders(graph);
  std::vector<double> sent(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) {
    const int block = (10 * i + 9) / nodes;  // i lies from floor(block n / 10) on
    const int begin = nodes * block / 10;
    const int before = nodes * std::max(0, block - 1) / 10;
    int joined = 0;
    for (const int j : heard[static_cast<std::size_t>(i)]) {
      EXPECT_GE(j, before);
      if (j >= begin) continue;
      ++joined;
      ++sent[static_cast<std::size_t>(j)];
    }
    EXPECT_EQ(joined, block == 0 ? 0 : matchings) << i;
  }
  // Matchings are perfect but for the node that blocks of unequal size leave over.
  for (int j = 0; j < nodes * 9 / 10; ++j)
    EXPECT_NEAR(sent[static_cast<std::size_t>(j)], matchings, 2 * matchings / 3.0) << j;
}

TEST(Fs, HasAPathFromEveryNodeToTheLast) {
  for (const int nodes : {1, 2, 3, 5, 17, 100, 1000})
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      for (const SparseGraph& graph :
           {fs_graph(nodes, 3, 0.5, seed), fs_sparse_graph(nodes, 3, 0.5, seed),
            fs_original_graph(nodes), power_graph(nodes)})
        for (int j = 0; j + 1 < nodes; ++j) EXPECT_FALSE(graph.receivers(j).empty()) << nodes;
  // One matching leaves out a node where a block has one node more than the next.
  for (int nodes = 1; nodes < 70; ++nodes)
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      for (const SparseGraph& graph :
           {fs_graph(nodes, 1, 0.1, seed), fs_sparse_graph(nodes, 1, 0.1, seed)})
        for (int j = 0; j + 1 < nodes; ++j)
          EXPECT_FALSE(graph.receivers(j).empty()) << nodes << ' ' << seed;
}

TEST(Fs, HasACompleteLastBlock) {
  const auto heard = senders(fs_graph(1024, 12, 0.5, 4));
  constexpr int kLast = 1024 * 9 / 10;
  for (int i = 1024 / 10 + 1; i < 1024; ++i) {
    const auto& row = heard[static_cast<std::size_t>(i)];
    const auto inside = std::count_if(row.begin(), row.end(), [](int j) { return j >= kLast; });
    EXPECT_EQ(inside, std::max(0, i - kLast));
    const auto others = row.size() - static_cast<std::size_t>(inside);
    if (i >= kLast)
      EXPECT_EQ(others, 12U);
    else
      EXPECT_GE(others, 12U);
  }
}

TEST(FsOriginal, IsCompleteBetweenBlocksAndInTheLast) {
  const auto heard = senders(fs_original_graph(12));  // four blocks of three
  using testing::ElementsAre;
  EXPECT_THAT(heard[2], ElementsAre());
  EXPECT_THAT(heard[3], ElementsAre(0, 1, 2));
  EXPECT_THAT(heard[8], ElementsAre(3, 4, 5));
  EXPECT_THAT(heard[11], ElementsAre(6, 7, 8, 9, 10));
}

TEST(SparseAttention, HasItsWindowsGlobalAndRandomNodes) {
  using testing::ElementsAre;
  EXPECT_THAT(senders(longformer_graph(20, 2, 1))[10], ElementsAre(0, 8, 9));
  EXPECT_THAT(senders(longformer_graph(20, 2, 1))[2], ElementsAre(0, 1));
  EXPECT_THAT(senders(dilated_graph(20, 3, 4))[10], ElementsAre(2, 6));
  EXPECT_THAT(senders(power_graph(20))[10], ElementsAre(2, 6, 8, 9));
  EXPECT_EQ(power_graph(40).dense().edges(), powers_graph(40).edges());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto heard = senders(bigbird_graph(60, 3, 2, 4, seed));
    for (int i = 0; i < 60; ++i) {
      const auto& from = heard[static_cast<std::size_t>(i)];
      EXPECT_EQ(from.size(), static_cast<std::size_t>(std::min(i, 9)));
      for (int j = std::max(0, i - 3); j < i; ++j) EXPECT_THAT(from, testing::Contains(j));
      for (int j = 0; j < std::min(i, 2); ++j) EXPECT_THAT(from, testing::Contains(j));
    }
  }
}

TEST(OrientedExpander, EndsForEverySeedOfASmallGraph) {  // one in 945 pairings is loops alone
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const auto& [nodes, degree] :
         std::vector<std::pair<int, int>>{{3, 2}, {5, 2}, {6, 2}, {6, 3}, {7, 4}, {4, 1}})
      EXPECT_EQ(oriented_expander_graph(nodes, degree, seed).edge_count(),
                nodes + nodes * degree / 2);
}

TEST(Families, TakeAllNodesWhereADegreeIsLarger) {
  const auto edges = [](const SparseGraph& graph) { return graph.dense().edges(); };
  const auto complete = edges(generate_family("indegree:200:199"));
  EXPECT_EQ(edges(generate_family("indegree:200:1000000000")), complete);
  EXPECT_EQ(edges(generate_family("poisson:200:0:1000000000")), complete);
  EXPECT_EQ(edges(generate_family("fs:200:1000000000")), edges(generate_family("fs:200:200")));
}

TEST(Families, TakeFractionsOfLogAndSqrtAtEverySize) {
  EXPECT_EQ(generate_family("indegree:2:1.5log").edge_count(), 3);  // log is 1
  EXPECT_EQ(generate_family("indegree:1:0.5sqrt").edge_count(), 1);
}

TEST(Families, AreRefusedBeforeTheyTakeMoreThanTheMemory) {
  constexpr double kNeeded = 256.0 * 1024 * 1024 * 1024;
  if (static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) >=
      kNeeded)
    GTEST_SKIP() << "this machine has the memory";
  using testing::HasSubstr;
  EXPECT_THAT(refusal("indegree:1073741823:64"), HasSubstr("GiB of memory; the machine has"));
  EXPECT_THAT(refusal("fs-original:1000000"), HasSubstr("the machine has"));
  EXPECT_THAT(refusal("fs:1000000:50000"), HasSubstr("the machine has"));
  EXPECT_THAT(refusal("indegree:1073741824:50"), HasSubstr("1.07e+09 nodes and 5.37e+10 edges"));
}

TEST(Families, AreNamedAndTakeDegreesThatGrowWithTheGraph) {
  const auto edges = [](const SparseGraph& graph) { return graph.dense().edges(); };
  EXPECT_EQ(edges(generate_family("indegree:100:5:9")), edges(fixed_indegree_graph(100, 5, 9)));
  EXPECT_EQ(edges(generate_family("indegree:100:log")), edges(fixed_indegree_graph(100, 7, 1)));
  EXPECT_EQ(edges(generate_family("indegree:100:4log")), edges(fixed_indegree_graph(100, 28, 1)));
  EXPECT_EQ(edges(generate_family("dilated:100:sqrt:2")), edges(dilated_graph(100, 10, 2)));
  EXPECT_EQ(edges(generate_family("expander:64:4:2")), edges(oriented_expander_graph(64, 4, 2)));
  EXPECT_EQ(edges(generate_family("poisson:64:0.2:9:3")), edges(poisson_graph(64, 0.2, 9, 3)));
  EXPECT_EQ(edges(generate_family("fs:64:6")), edges(fs_graph(64, 6, 0.5, 1)));
  EXPECT_EQ(edges(generate_family("fs:64:6:0.25:8")), edges(fs_graph(64, 6, 0.25, 8)));
  EXPECT_EQ(edges(generate_family("bigbird:64:3:1:2:7")), edges(bigbird_graph(64, 3, 1, 2, 7)));
  EXPECT_EQ(edges(generate_family("expander:16:4log")), complete_graph(16).edges());
  EXPECT_EQ(edges(generate_family("expander:9:log")), edges(oriented_expander_graph(9, 4, 1)));
  EXPECT_EQ(edges(generate_family("expander:7:log")), edges(oriented_expander_graph(7, 2, 1)));
  EXPECT_NE(edges(generate_family("fs:64:6:0.5:1")), edges(generate_family("fs:64:6:0.5:2")));
}

TEST(Families, RefuseBadDescriptionsInOneLine) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("ring:9"), HasSubstr("unknown family 'ring'; there are indegree"));
  EXPECT_THAT(refusal("fs:64"), HasSubstr("expected fs:N:K[:RATIO[:SEED]]"));
  EXPECT_THAT(refusal("fs:64:4logs"), HasSubstr("'4logs' is not a whole number, 'log'"));
  EXPECT_THAT(refusal("fs:64:1.5"), HasSubstr("'1.5' is not a whole number"));
  EXPECT_THAT(refusal("fs:64:inf"), HasSubstr("'inf' is not a whole number"));
  EXPECT_THAT(refusal("fs:64:-1"), HasSubstr("'-1' is not a whole number"));
  EXPECT_THAT(refusal("fs:64:0"), HasSubstr("matchings must be at least 1"));
  EXPECT_THAT(refusal("fs:64:4:1"), HasSubstr("the ratio of matchings"));
  EXPECT_THAT(refusal("fs:0:4"), HasSubstr("nodes, not 0"));
  EXPECT_THAT(refusal("fs:99999999999:4"), HasSubstr("nodes, not 99999999999"));
  EXPECT_THAT(refusal("indegree:1000000000:1000"), HasSubstr("would have 1e+12 edges"));
  EXPECT_THAT(refusal("expander:5:3"), HasSubstr("no 3-regular graph of 5 nodes"));
  EXPECT_THAT(refusal("expander:5:6"), HasSubstr("no 6-regular graph of 5 nodes"));
  EXPECT_THAT(refusal("poisson:9:1:3"), HasSubstr("the chance to skip"));
  EXPECT_THAT(refusal("poisson:9:nan:3"), HasSubstr("nan"));
  EXPECT_THAT(refusal("fs:64:4:0.5:x"), HasSubstr("'x' is not a seed"));
}

// Graphs are made on the threads that are allowed, and making them can be stopped.
TEST(Families, AreMadeAsTheExecutionSays) {
  const std::thread::id own = std::this_thread::get_id();
  for (const char* family :
       {"indegree:20000:3", "expander:20000:4", "poisson:20000:0.2:4", "fs:20000:2",
        "longformer:20000:2:1", "bigbird:20000:2:1:1", "dilated:20000:3:2", "power:20000"}) {
    int asked = 0;
    Execution execution{.threads = 1};
    execution.stop = [&] {
      EXPECT_EQ(std::this_thread::get_id(), own) << family;
      ++asked;
      return false;
    };
    const SparseGraph alone = generate_family(family, 1, execution);
    EXPECT_GE(asked, 5) << family;
    EXPECT_EQ(alone.all_receivers(), generate_family(family, 1).all_receivers()) << family;
    execution.stop = [] { return true; };
    EXPECT_THROW(generate_family(family, 1, execution), Stopped) << family;
  }
}

}  // namespace
}  // namespace synergraph
