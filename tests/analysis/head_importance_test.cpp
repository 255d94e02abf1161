#include "synergraph/analysis/head_importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/analysis/graph_source.h"
#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "tests/analysis/memory_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::MemorySource;
using testing_support::random_attention;

/// Random attention.
MemorySource random_source(const std::vector<int>& heads, int samples, int tokens) {
  RandomSequence draws(7, Purpose::kTest, 0);
  MemorySource::Systems systems;
  for (const int count : heads) {
    auto& layer = systems.emplace_back(static_cast<std::size_t>(samples));
    for (auto& system : layer)
      for (int h = 0; h < count; ++h)
        system.push_back(head_of_attention("", random_attention(tokens, 1.5, draws)));
  }
  return MemorySource(std::move(systems));
}

double mean_alone(const MemorySource& source, int layer, int head) {
  double sum = 0.0;
  const int samples = source.layers()[static_cast<std::size_t>(layer)].samples;
  for (int s = 0; s < samples; ++s)
    sum += measure_heads({source.system(layer, s)[static_cast<std::size_t>(head)]}, {1.0},
                         convention_options(Convention::kExact))
               .combined.fidelity.minimax;
  return sum / samples;
}

TEST(HeadImportance, SharesTheValueOfAllHeads) {
  MemorySource source = random_source({3, 5, 1}, 4, 12);
  const LayerWeights weights = uniform_weights(source.layers());
  const Importance importance = head_importance(source, weights, {});
  ASSERT_EQ(importance.credits.size(), 3U);
  for (std::size_t l = 0; l < 3; ++l) {
    const LayerCredit& layer = importance.credits[l];
    EXPECT_TRUE(layer.exact);
    for (const ValueCredit& value : layer.values) {
      const auto heads = static_cast<std::size_t>(source.layers()[l].heads);
      ASSERT_EQ(value.heads.size(), heads);
      double shapley = 0.0;
      for (const HeadCredit& head : value.heads) shapley += head.shapley.mean;
      EXPECT_NEAR(shapley, value.all.mean, 1e-14);
      EXPECT_EQ(value.pairs.size(), heads * (heads - 1) / 2);
      ASSERT_EQ(value.pruning.best.size(), heads + 1);
      EXPECT_NEAR(value.pruning.best.back().value, value.all.mean, 1e-15);
      EXPECT_GE(value.smallest.value, 0.95 * value.all.mean);
      for (std::size_t k = 0; k <= heads; ++k) {
        EXPECT_EQ(value.pruning.best[k].heads.size(), k);
        EXPECT_GE(value.pruning.best[k].value, value.pruning.shapley.value[k]);
        EXPECT_GE(value.pruning.addition.loss[k], 0.0);
      }
      ASSERT_TRUE(value.weights);
      EXPECT_NEAR(value.weights->given_value, value.all.mean, 1e-13);
      EXPECT_GE(value.weights->value, value.weights->given_value);
      EXPECT_GE(value.weights->bound, value.weights->value - 1e-12);
    }
  }
  for (int h = 0; h < 5; ++h)
    EXPECT_NEAR(importance.credits[1].values[0].heads[static_cast<std::size_t>(h)].alone.mean,
                mean_alone(source, 1, h), 1e-15);
}

TEST(HeadImportance, IsTheSameOnAnyThreads) {
  MemorySource source = random_source({4, 6}, 5, 9);
  const LayerWeights weights = uniform_weights(source.layers());
  std::vector<Importance> runs;
  for (const int threads : {1, 2, 7}) {
    ImportanceOptions options;
    options.execution.threads = threads;
    options.weights.bound_cells = 20;
    runs.push_back(head_importance(source, weights, options));
  }
  for (const Importance& run : runs)
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t v = 0; v < 2; ++v) {
        const ValueCredit& one = runs.front().credits[l].values[v];
        const ValueCredit& other = run.credits[l].values[v];
        for (std::size_t h = 0; h < one.heads.size(); ++h) {
          EXPECT_EQ(one.heads[h].shapley.mean, other.heads[h].shapley.mean);
          EXPECT_EQ(one.heads[h].shapley.error, other.heads[h].shapley.error);
        }
        EXPECT_EQ(one.smallest.heads, other.smallest.heads);
        EXPECT_EQ(one.pruning.addition.value, other.pruning.addition.value);
        EXPECT_EQ(one.weights->weights, other.weights->weights);
        EXPECT_EQ(one.weights->bound, other.weights->bound);
      }
}

// Sampled orders estimate what all subsets give.
TEST(HeadImportance, OfMoreHeadsIsSampled) {
  MemorySource source = random_source({6}, 3, 8);
  const LayerWeights weights = uniform_weights(source.layers());
  ImportanceOptions options;
  options.weights.bound_cells = 20;
  const Importance exact = head_importance(source, weights, options);
  options.exact_heads = 4;
  options.sampling.precision = 0.005;
  const Importance sampled = head_importance(source, weights, options);
  const LayerCredit& layer = sampled.credits.front();
  EXPECT_FALSE(layer.exact);
  EXPECT_GT(layer.permutations, 0);
  for (std::size_t v = 0; v < 2; ++v) {
    const ValueCredit& truth = exact.credits.front().values[v];
    const ValueCredit& found = layer.values[v];
    EXPECT_NEAR(found.all.mean, truth.all.mean, 1e-14);
    for (std::size_t h = 0; h < 6; ++h) {
      EXPECT_NEAR(found.heads[h].shapley.mean, truth.heads[h].shapley.mean, 0.02 * truth.all.mean);
      EXPECT_NEAR(found.heads[h].alone.mean, truth.heads[h].alone.mean, 1e-14);
      EXPECT_NEAR(found.heads[h].dropped.mean, truth.heads[h].dropped.mean, 1e-14);
      EXPECT_TRUE(std::isnan(found.heads[h].banzhaf.mean));
    }
    // Few heads: every size is searched through.
    for (std::size_t k = 0; k <= 6; ++k) {
      EXPECT_TRUE(found.pruning.certified[k]);
      EXPECT_NEAR(found.pruning.best[k].value, truth.pruning.best[k].value, 1e-14);
    }
    EXPECT_EQ(found.smallest.heads, truth.smallest.heads);
  }
}

// Sets are sought on the first samples; where these carry nothing, no set is known to be enough.
TEST(HeadImportance, SamplesWithoutASignalSayNothingOfSets) {
  std::vector<Head> still;
  for (int h = 0; h < 3; ++h) {
    Matrix attention(4, 4);
    for (int i = 0; i < 4; ++i) attention(i, i) = 1.0;
    still.push_back(head_of_attention("", std::move(attention)));
  }
  MemorySource source({{still, random_source({3}, 1, 4).system(0, 0)}});
  ImportanceOptions options;
  options.values = {HeadValue::kFidelity};
  options.exact_heads = 2;
  options.weight_samples = 1;
  const LayerWeights weights = uniform_weights(source.layers());
  const Importance importance = head_importance(source, weights, options);
  const ValueCredit& credit = importance.credits.front().values.front();
  EXPECT_GT(credit.all.mean, 0.0);
  EXPECT_EQ(credit.pruning.samples, 1);
  EXPECT_EQ(credit.smallest.heads.size(), 3U);
  options.weight_samples = 2;
  const Importance both = head_importance(source, weights, options);
  EXPECT_EQ(both.credits.front().values.front().pruning.samples, 2);
  EXPECT_GT(both.credits.front().values.front().smallest.value, 0.9 * credit.all.mean);
}

// A graph's heads walk along their edges: the worked example's combination is what `graph` says.
TEST(HeadImportance, OfAGraph) {
  GraphSource source(worked_example(1));
  ImportanceOptions options;
  options.convention = graph_options(Convention::kExact);
  const Importance importance = head_importance(source, {source.weights()}, options);
  const std::vector<Head> heads = heads_of_graph(worked_example(1));
  const HeadsMetrics measured = measure_heads(heads, source.weights(), options.convention);
  const auto& values = importance.credits.front().values;
  EXPECT_NEAR(values[0].all.mean, measured.combined.fidelity.minimax, 1e-15);
  EXPECT_NEAR(values[1].all.mean, 1.0 - measured.combined.walk.truncated.mean / 100, 1e-14);
  EXPECT_TRUE(std::isnan(values[0].all.error));
}

TEST(HeadImportance, ValuesHaveAnOrder) {
  using enum HeadValue;
  EXPECT_EQ(ordered_values({kSpeed, kFidelity, kSpeed}), (std::vector{kFidelity, kSpeed}));
  EXPECT_EQ(ordered_values({kSpeed}), std::vector{kSpeed});
}

// Nothing is kept by the fewest heads, everything by as many as that takes; no share is outside.
TEST(HeadImportance, KeepsAnyShareFromNothingToAll) {
  MemorySource source = random_source({2}, 1, 4);
  const LayerWeights weights = uniform_weights(source.layers());
  const auto smallest = [&](double keep) {
    ImportanceOptions options;
    options.keep = keep;
    return head_importance(source, weights, options).credits.front().values.front();
  };
  EXPECT_TRUE(smallest(0.0).smallest.heads.empty());
  const ValueCredit whole = smallest(1.0);
  EXPECT_GE(whole.smallest.value, whole.all.mean);
  for (const double keep : {std::nextafter(0.0, -1.0), -0.5, std::nextafter(1.0, 2.0), 1.5,
                            std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(smallest(keep), InputError) << keep;
}

TEST(HeadImportance, RefusesWhatCannotBe) {
  MemorySource source = random_source({2}, 1, 4);
  const LayerWeights weights = uniform_weights(source.layers());
  ImportanceOptions options;
  options.exact_heads = 21;
  EXPECT_THROW(head_importance(source, weights, options), InputError);
  options = {};
  options.values = {};
  EXPECT_THROW(head_importance(source, weights, options), InputError);
  EXPECT_THROW(head_importance(source, {{1.0}}, {}), InputError);
  options = {};
  options.execution.stop = [] { return true; };
  EXPECT_THROW(head_importance(source, weights, options), Stopped);
}

}  // namespace
}  // namespace synergraph
