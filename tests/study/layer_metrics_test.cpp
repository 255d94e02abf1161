#include "synergraph/study/layer_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/study/analysis.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention_system;
using testing_support::System;

/// The heads of a system as a source gives them.
SampleHeads sample_of(const System& system) {
  SampleHeads heads(static_cast<int>(system.heads.size()), system.heads.front().diffusion.rows());
  heads.start([&system](int h, Matrix& into) {
    into = system.heads[static_cast<std::size_t>(h)].diffusion;
  });
  return heads;
}

/// Equal, but for the rounding of sums in another order.
void expect_same(double a, double b, const char* what) {
  if (std::isnan(b))
    EXPECT_TRUE(std::isnan(a)) << what << ": " << a;
  else if (std::isinf(b))
    EXPECT_EQ(a, b) << what;
  else
    EXPECT_NEAR(a, b, 1e-13 * std::abs(b)) << what;
}

void expect_same(const SampleMetrics& a, const Metrics& b, bool with_walk) {
  expect_same(a.fidelity, b.fidelity.minimax, "minimax");
  expect_same(a.fidelity_upper, b.fidelity.minimax_upper, "upper");
  expect_same(a.fidelity_time, b.fidelity.minimax_time, "time");
  EXPECT_EQ(a.fidelity_node, b.fidelity.minimax_node);
  if (!with_walk) {
    EXPECT_TRUE(std::isnan(a.truncated_mean));
    EXPECT_TRUE(a.mixing.empty());
    return;
  }
  expect_same(a.forward_probability, b.forward_probability, "p");
  expect_same(a.truncated_mean, b.walk.truncated.mean, "truncated mean");
  expect_same(a.truncated_max, b.walk.truncated.max, "truncated max");
  expect_same(a.hitting_mean, b.walk.hitting.mean, "hitting mean");
  expect_same(a.hitting_max, b.walk.hitting.max, "hitting max");
  EXPECT_EQ(a.mixing, b.walk.mixing);
}

TEST(LayerMetricsTest, EqualsMeasuringTheHeadsUnderEveryConvention) {
  std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact),
                                             convention_options(Convention::kPublished),
                                             convention_options(Convention::kExact)};
  conventions.back().normalization = Normalization::kPerHead;
  for (MetricsOptions& convention : conventions) convention.walk.eps = {0.25, 0.01};
  for (std::uint32_t index = 0; index < 40; ++index) {
    const System system = random_attention_system(index);
    for (const bool per_head : {true, false}) {
      for (MetricsOptions& convention : conventions) convention.per_head_walks = per_head;
      SampleHeads heads = sample_of(system);
      const std::vector<LayerSample> all =
          measure_sample(heads, system.weights, {.conventions = conventions});
      ASSERT_EQ(all.size(), conventions.size());
      for (std::size_t c = 0; c < conventions.size(); ++c) {
        SCOPED_TRACE(testing::Message() << "system " << index << ", convention " << c);
        const HeadsMetrics expected = measure_heads(system.heads, system.weights, conventions[c]);
        expect_same(all[c].combined, expected.combined, true);
        for (std::size_t h = 0; h < system.heads.size(); ++h)
          expect_same(all[c].heads[h], expected.heads[h], per_head);
        EXPECT_EQ(all[c].synergy.best_head, expected.synergy.best_head);
        expect_same(all[c].synergy.best_head_fidelity, expected.synergy.best_head_fidelity,
                    "best head");
        expect_same(all[c].synergy.value, expected.synergy.value, "synergy");
        expect_same(all[c].mixing_synergy, expected.mixing_synergy, "mixing synergy");
        if (per_head)
          expect_same(all[c].effective_forward_probability, expected.effective_forward_probability,
                      "effective p");
        if (std::isnan(expected.cross_head_share))
          EXPECT_TRUE(std::isnan(all[c].cross_head_share));
        else
          EXPECT_NEAR(all[c].cross_head_share, expected.cross_head_share, 1e-11);
      }
    }
  }
}

TEST(LayerMetricsTest, PublishedAloneKnowsTheMixingSynergyToo) {
  const System system = random_attention_system(4);
  SampleHeads heads = sample_of(system);
  const MetricsOptions options = convention_options(Convention::kPublished);
  const LayerSample sample =
      measure_sample(heads, system.weights, {.conventions = {options}}).front();
  expect_same(sample.mixing_synergy, mixing_synergy(system.heads, system.weights, 0.25),
              "mixing synergy");
}

TEST(LayerMetricsTest, AHeadOfWeightOneLeavesNothingToOthers) {
  System system = random_attention_system(7);
  system.weights.assign(system.heads.size(), 0.0);
  system.weights.front() = 1.0;
  SampleHeads heads = sample_of(system);
  const LayerSample sample =
      measure_sample(heads, system.weights,
                     {.conventions = {convention_options(Convention::kExact)}})
          .front();
  EXPECT_EQ(sample.cross_head_share, 0.0);
  EXPECT_EQ(sample.combined.fidelity, sample.heads.front().fidelity);
}

// Copies of a head in an analysis: the share of samples with synergy is zero, not nearly zero.
TEST(LayerMetricsTest, CopiesOfAHeadShowNoSynergy) {
  const MetricsOptions options = convention_options(Convention::kExact);
  std::vector<LayerSample> samples;
  for (std::uint32_t index = 0; index < 50; ++index) {
    System system = random_attention_system(index);
    system.heads.assign(9, system.heads.front());
    system.weights.assign(9, 1.0 / 9);
    SampleHeads heads = sample_of(system);
    samples.push_back(measure_sample(heads, system.weights, {.conventions = {options}}).front());
    if (heads.tokens() > 1) {  // one token is there at once: 0/0
      EXPECT_EQ(samples.back().mixing_synergy, 1.0);
    }
  }
  const LayerSummary summary = summarise_layer(samples, options);
  EXPECT_EQ(summary.synergy_share, 0.0);
  EXPECT_EQ(summary.synergy.min, 1.0);
  EXPECT_EQ(summary.synergy.max, 1.0);
  EXPECT_EQ(summary.best_share.front(), 1.0);
}

// What intervals do not decide is counted as such, and not as synergy.
TEST(LayerMetricsTest, CountsWhatIsUndecided) {
  std::vector<LayerSample> samples(4);
  for (LayerSample& sample : samples) sample.heads.resize(2);
  samples[0].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.3, 0.3});
  samples[1].synergy = compare_with_best({{0.2, 0.9}, {0.3, 0.3}}, {0.4, 0.4});
  samples[2].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.1, 0.9});
  samples[3].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.2, 0.2});
  const LayerSummary summary = summarise_layer(samples, convention_options(Convention::kExact));
  EXPECT_EQ(summary.synergy_share, 0.25);
  EXPECT_EQ(summary.synergy_undecided, 2);
  EXPECT_EQ(summary.best_head_undecided, 1);
  EXPECT_EQ(summary.synergy.undefined, 2U);
}

}  // namespace
}  // namespace synergraph
