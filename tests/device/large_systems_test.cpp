// How large systems are measured by panels and powers, whatever computes those: here plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "synergraph/device/large/measure_large.h"
#include "synergraph/graph/generators.h"
#include "synergraph/graph/multi_head_graph.h"
#include "tests/support/host_operators.h"
#include "tests/support/small_systems.h"

namespace synergraph {
namespace {

using testing_support::expect_system;
using testing_support::HostOperators;
using testing_support::nasty_batches;
using testing_support::random_batch;
using testing_support::SmallBatch;

std::vector<Matrix> heads_of(const SmallBatch& batch) {
  std::vector<Matrix> heads;
  for (int h = 0; h < batch.heads; ++h) {
    Matrix& head = heads.emplace_back(batch.tokens, batch.tokens);
    for (int i = 0; i < batch.tokens; ++i)
      std::copy_n(SmallBatch(batch).row(0, h, i), i + 1, head.row(i));
  }
  return heads;
}

struct Found {
  bool decided = false;
  int squared = 0;
};

/// Measures the first sample and holds it against the CPU.
Found expect_as_on_the_cpu(const SmallBatch& batch, const std::vector<double>& weights,
                           BatchOptions options, const std::string& what) {
  options.sequences = {{0, 0, batch.tokens}};
  const std::vector<double> convex =
      weights.empty()
          ? std::vector<double>(static_cast<std::size_t>(batch.heads), 1.0 / batch.heads)
          : convex_weights(weights, static_cast<std::size_t>(batch.heads));
  HostOperators operators(heads_of(batch), convex, options.missing_mass == MissingMass::kNode);
  EXPECT_EQ(large::refusal(options), "") << what;
  if (!large::is_good(operators, 1e-6)) return {};
  const auto measured = large::measure(operators, convex, options);
  if (!measured) return {};
  const BatchMetrics expected = measure(batch.view(), weights, options);
  for (std::size_t c = 0; c < expected.sequences.size(); ++c)
    expect_system((*measured)[c], expected.sequences[c].front(),
                  what + ", convention " + std::to_string(c));
  return {true, operators.squared};
}

BatchOptions options_of(std::vector<MetricsOptions> conventions) {
  BatchOptions options;
  options.conventions = std::move(conventions);
  return options;
}

MetricsOptions exact(Normalization normalization = Normalization::kPooled) {
  MetricsOptions options;
  options.normalization = normalization;
  options.walk.eps = {0.25, 0.01};
  return options;
}

std::vector<BatchOptions> all_options() {
  MetricsOptions published = convention_options(Convention::kPublished);
  std::vector<BatchOptions> all = {options_of({exact()}),
                                   options_of({exact(Normalization::kPerHead)}),
                                   options_of({published}), options_of({exact(), published})};
  for (BatchOptions& options : std::vector<BatchOptions>(all)) {
    for (MetricsOptions& each : options.conventions) each.per_head_walks = false;
    all.push_back(options);
  }
  MetricsOptions every = exact();
  every.fidelity.nodes = FidelityNodes::kAll;
  all.push_back(options_of({every}));
  return all;
}

TEST(LargeSystems, AreThoseOfTheCpuUnderEveryConvention) {
  for (const int heads : {1, 3})
    for (const int tokens : {2, 17, 90}) {
      const SmallBatch batch = random_batch(1, heads, tokens, 3, 2.0);
      int k = 0;
      for (const BatchOptions& options : all_options())
        EXPECT_TRUE(expect_as_on_the_cpu(batch, {}, options,
                                         std::to_string(heads) + " heads, " +
                                             std::to_string(tokens) + " tokens, options " +
                                             std::to_string(k++))
                        .decided);
    }
}

TEST(LargeSystems, WithNastyInputsAreThoseOfTheCpu) {
  std::vector<std::string> undecided;
  for (const auto& [name, batch] : nasty_batches()) {
    if (batch.tokens < 2) continue;
    const auto options = options_of({exact(), convention_options(Convention::kPublished)});
    if (!expect_as_on_the_cpu(batch, {}, options, name).decided) undecided.push_back(name);
  }
  // A node that keeps all it gets, digits that a walk would lose, a sink that passes all on where
  // the first node decides.
  EXPECT_EQ(undecided, (std::vector<std::string>{"the identity", "the previous token",
                                                 "weights next to nothing"}));
}

/// Heads that keep all but a small share: T_mix far beyond panels.
SmallBatch slow_batch(int heads, int tokens, double share) {
  return random_batch(1, heads, tokens, 8, 1.0)
      .fill([&, draws = RandomSequence(5, Purpose::kTest, 9)](int, int h, int i, int j) mutable {
        return i == j ? 1.0 : share * (h + 1) * std::exp(draws.normal()) / (i + 1);
      });
}

TEST(LargeSystems, OfSlowHeadsAreSquared) {
  for (const double share : {1e-3, 1e-5, 1e-9})
    for (const int heads : {1, 2}) {
      const Found found = expect_as_on_the_cpu(slow_batch(heads, 30, share), {},
                                               options_of({exact()}), std::to_string(share));
      EXPECT_TRUE(found.decided) << share;
      EXPECT_GT(found.squared, 0) << share;
    }
}

TEST(LargeSystems, TakeOneSlowHeadAmongFastOnes) {
  SmallBatch batch = random_batch(1, 3, 40, 2, 1.0);
  const SmallBatch slow = slow_batch(1, 40, 1e-7);
  for (int i = 0; i < 40; ++i) std::copy_n(SmallBatch(slow).row(0, 0, i), 40, batch.row(0, 1, i));
  for (const std::vector<double>& weights :
       {std::vector<double>{}, std::vector<double>{0.1, 5.0, 0.0},
        std::vector<double>{0.0, 1.0, 0.0}})
    for (const Normalization normalization : {Normalization::kPooled, Normalization::kPerHead}) {
      const Found found =
          expect_as_on_the_cpu(batch, weights, options_of({exact(normalization)}), "one slow head");
      EXPECT_TRUE(found.decided);
      EXPECT_GT(found.squared, 0);
    }
}

/// Rows that leave out what learned sinks take: from next to nothing to nearly all.
SmallBatch with_sinks(SmallBatch batch, double share) {
  for (int h = 0; h < batch.heads; ++h)
    for (int i = 0; i < batch.tokens; ++i) {
      const double left = share * (h + 1) / (h + 1 + i % 3);
      for (int j = 0; j <= i; ++j) batch.row(0, h, i)[j] *= 1.0 - left;
    }
  return batch;
}

TEST(LargeSystems, HaveANodeForMissingMass) {
  for (const double share : {1e-7, 0.01, 0.5, 0.95})
    for (const int heads : {1, 3}) {
      const SmallBatch batch = with_sinks(random_batch(1, heads, 60, 4, 1.5), share);
      int k = 0;
      for (BatchOptions options : all_options()) {
        options.missing_mass = MissingMass::kNode;
        for (MetricsOptions& each : options.conventions) each.fidelity.first_token = 1;
        EXPECT_TRUE(expect_as_on_the_cpu(batch, {}, options,
                                         "share " + std::to_string(share) + ", " +
                                             std::to_string(heads) + " heads, options " +
                                             std::to_string(k++))
                        .decided);
      }
    }
}

TEST(LargeSystems, OfSlowHeadsWithANodeForMissingMassAreSquared) {
  BatchOptions options = options_of({exact()});
  options.missing_mass = MissingMass::kNode;
  for (const double share : {1e-6, 1e-2}) {
    const Found found = expect_as_on_the_cpu(with_sinks(slow_batch(2, 25, 1e-5), share), {},
                                             options, std::to_string(share));
    EXPECT_TRUE(found.decided) << share;
    EXPECT_GT(found.squared, 0) << share;
  }
}

TEST(LargeSystems, HaveWalksOfTheirOwnAsGraphsHave) {
  for (const int count : {1, 3}) {
    std::vector<GraphHead> graphs;
    for (const char* const each : {"window:40:5", "complete:40", "powers:40"})
      if (static_cast<int>(graphs.size()) < count)
        graphs.push_back({"", 1.0, generate_graph(each)});
    const std::vector<Head> heads = heads_of_graph(multi_head_graph(std::move(graphs)));
    const std::vector<double> weights =
        count == 1 ? std::vector<double>{1.0} : std::vector<double>{0.5, 0.3, 0.2};
    std::vector<Matrix> diffusions;
    std::vector<Matrix> walks;
    for (const Head& head : heads) {
      diffusions.push_back(head.diffusion);
      Matrix& columns = walks.emplace_back(40, 40);
      for (int i = 0; i < 40; ++i)
        for (int j = 0; j <= i; ++j) columns(i, j) = head.graph_walk->step(j, i);
    }
    for (const BatchOptions& options : all_options()) {
      HostOperators operators(diffusions, weights, false);
      HostOperators own(walks, weights, false, true);
      ASSERT_TRUE(large::is_good(operators, 1e-9));
      const auto measured = large::measure(operators, weights, options, &own);
      ASSERT_TRUE(measured) << count << " graphs";
      HeadList source(heads);
      const std::vector<HeadsMetrics> expected =
          measure(source, weights, {.conventions = options.conventions});
      for (std::size_t c = 0; c < expected.size(); ++c)
        expect_system((*measured)[c], expected[c],
                      std::to_string(count) + " graphs, convention " + std::to_string(c));
    }
  }
}

TEST(LargeSystems, NameWhatIsLeftToTheCpu) {
  EXPECT_EQ(large::refusal({}), "");
  BatchOptions options;
  options.nodes = true;
  EXPECT_EQ(large::refusal(options), "numbers of every node");
  options = {};
  options.conventions.front().fidelity.step_limit = 7;
  EXPECT_EQ(large::refusal(options), "a step limit");
  options = {};
  options.conventions.push_back(options.conventions.front());
  options.conventions.front().fidelity.horizon = 5;
  EXPECT_EQ(large::refusal(options), "");
  options.conventions.back().fidelity.horizon = 6;
  EXPECT_EQ(large::refusal(options), "such horizons");
}

}  // namespace
}  // namespace synergraph
