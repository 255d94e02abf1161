#include "synergraph/analysis/head_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/analysis/graph_source.h"
#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "tests/heads/memory_source.h"
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

TEST(HeadValues, SharesTheValueOfAllHeads) {
  MemorySource source = random_source({3, 5, 1}, 4, 12);
  const LayerWeights weights = uniform_weights(source.layers());
  const HeadValues head_values = value_heads(source, weights, {});
  ASSERT_EQ(head_values.layer_values.size(), 3U);
  for (std::size_t l = 0; l < 3; ++l) {
    const LayerHeadValues& layer = head_values.layer_values[l];
    EXPECT_TRUE(layer.exact);
    for (const ValueOfHeads& value : layer.values) {
      const auto heads = static_cast<std::size_t>(source.layers()[l].heads);
      ASSERT_EQ(value.heads.size(), heads);
      double shapley = 0.0;
      for (const ValueOfHead& head : value.heads) shapley += head.shapley.mean;
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
    EXPECT_NEAR(head_values.layer_values[1].values[0].heads[static_cast<std::size_t>(h)].alone.mean,
                mean_alone(source, 1, h), 1e-15);
}

TEST(HeadValues, IsTheSameOnAnyThreads) {
  MemorySource source = random_source({4, 6}, 5, 9);
  const LayerWeights weights = uniform_weights(source.layers());
  std::vector<HeadValues> runs;
  for (const int threads : {1, 2, 7}) {
    HeadValueOptions options;
    options.execution.threads = threads;
    options.weights.bound_parts = 20;
    runs.push_back(value_heads(source, weights, options));
  }
  for (const HeadValues& run : runs)
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t v = 0; v < 2; ++v) {
        const ValueOfHeads& one = runs.front().layer_values[l].values[v];
        const ValueOfHeads& other = run.layer_values[l].values[v];
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
TEST(HeadValues, OfMoreHeadsIsSampled) {
  MemorySource source = random_source({6}, 3, 8);
  const LayerWeights weights = uniform_weights(source.layers());
  HeadValueOptions options;
  options.weights.bound_parts = 20;
  const HeadValues exact = value_heads(source, weights, options);
  options.exact_heads = 4;
  options.sampling.precision = 0.005;
  const HeadValues sampled = value_heads(source, weights, options);
  const LayerHeadValues& layer = sampled.layer_values.front();
  EXPECT_FALSE(layer.exact);
  EXPECT_GT(layer.permutations, 0);
  for (std::size_t v = 0; v < 2; ++v) {
    const ValueOfHeads& truth = exact.layer_values.front().values[v];
    const ValueOfHeads& found = layer.values[v];
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
TEST(HeadValues, SamplesWithoutASignalSayNothingOfSets) {
  std::vector<Head> still;
  for (int h = 0; h < 3; ++h) {
    Matrix attention(4, 4);
    for (int i = 0; i < 4; ++i) attention(i, i) = 1.0;
    still.push_back(head_of_attention("", std::move(attention)));
  }
  MemorySource source({{still, random_source({3}, 1, 4).system(0, 0)}});
  HeadValueOptions options;
  options.values = {HeadValue::kFidelity};
  options.exact_heads = 2;
  options.weight_samples = 1;
  const LayerWeights weights = uniform_weights(source.layers());
  const HeadValues head_values = value_heads(source, weights, options);
  const ValueOfHeads& layer_value = head_values.layer_values.front().values.front();
  EXPECT_GT(layer_value.all.mean, 0.0);
  EXPECT_EQ(layer_value.pruning.samples, 1);
  EXPECT_EQ(layer_value.smallest.heads.size(), 3U);
  options.weight_samples = 2;
  const HeadValues both = value_heads(source, weights, options);
  EXPECT_EQ(both.layer_values.front().values.front().pruning.samples, 2);
  EXPECT_GT(both.layer_values.front().values.front().smallest.value, 0.9 * layer_value.all.mean);
}

// A graph's heads walk along their edges: the worked example's combination is what `graph` says.
TEST(HeadValues, OfAGraph) {
  GraphSource source(worked_example(1));
  HeadValueOptions options;
  options.convention = graph_options(Convention::kExact);
  const HeadValues head_values = value_heads(source, {source.weights()}, options);
  const std::vector<Head> heads = heads_of_graph(worked_example(1));
  const HeadsMetrics measured = measure_heads(heads, source.weights(), options.convention);
  const auto& values = head_values.layer_values.front().values;
  EXPECT_NEAR(values[0].all.mean, measured.combined.fidelity.minimax, 1e-15);
  EXPECT_NEAR(values[1].all.mean, 1.0 - measured.combined.walk.truncated.mean / 100, 1e-14);
  EXPECT_TRUE(std::isnan(values[0].all.error));
}

TEST(HeadValues, ValuesHaveAnOrder) {
  using enum HeadValue;
  EXPECT_EQ(ordered_values({kSpeed, kFidelity, kSpeed}), (std::vector{kFidelity, kSpeed}));
  EXPECT_EQ(ordered_values({kSpeed}), std::vector{kSpeed});
}

// Nothing is kept by the fewest heads, everything by as many as that takes; no share is outside.
TEST(HeadValues, KeepsAnyShareFromNothingToAll) {
  MemorySource source = random_source({2}, 1, 4);
  const LayerWeights weights = uniform_weights(source.layers());
  const auto smallest = [&](double keep) {
    HeadValueOptions options;
    options.keep = keep;
    return value_heads(source, weights, options).layer_values.front().values.front();
  };
  EXPECT_TRUE(smallest(0.0).smallest.heads.empty());
  const ValueOfHeads whole = smallest(1.0);
  EXPECT_GE(whole.smallest.value, whole.all.mean);
  for (const double keep : {std::nextafter(0.0, -1.0), -0.5, std::nextafter(1.0, 2.0), 1.5,
                            std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(smallest(keep), InputError) << keep;
}

TEST(HeadValues, RefusesWhatCannotBe) {
  MemorySource source = random_source({2}, 1, 4);
  const LayerWeights weights = uniform_weights(source.layers());
  HeadValueOptions options;
  options.exact_heads = 21;
  EXPECT_THROW(value_heads(source, weights, options), InputError);
  options = {};
  options.values = {};
  EXPECT_THROW(value_heads(source, weights, options), InputError);
  EXPECT_THROW(value_heads(source, {{1.0}}, {}), InputError);
  options = {};
  options.execution.stop = [] { return true; };
  EXPECT_THROW(value_heads(source, weights, options), Stopped);
}

}  // namespace
}  // namespace synergraph
