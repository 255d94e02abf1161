#include "synergraph/analysis/analysis.h"

#include <gtest/gtest.h>

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

// Copies of a head in an analysis: the share of samples with synergy is zero, not nearly zero.
TEST(AnalysisTest, CopiesOfAHeadShowNoSynergy) {
  const MetricsOptions options = convention_options(Convention::kExact);
  std::vector<HeadsMetrics> samples;
  for (std::uint32_t index = 0; index < 50; ++index) {
    System system = random_attention_system(index);
    system.heads.assign(9, system.heads.front());
    system.weights.assign(9, 1.0 / 9);
    SampleHeads heads = sample_of(system);
    samples.push_back(measure(heads, system.weights, {.conventions = {options}}).front());
    if (heads.nodes() > 1) {  // one token is there at once: 0/0
      EXPECT_EQ(samples.back().mixing_synergy, 1.0);
    }
  }
  const MeasuredLayer layer = summarise_layer(samples, options.walk.eps);
  EXPECT_EQ(layer.all.with_synergy, 0);
  EXPECT_EQ(layer.all[Quantity::kSynergy].min, 1.0);
  EXPECT_EQ(layer.all[Quantity::kSynergy].max, 1.0);
  EXPECT_EQ(layer.heads.front().best.value(), 1.0);
}

// What intervals do not decide is counted as such, and not as synergy.
TEST(AnalysisTest, CountsWhatIsUndecided) {
  std::vector<HeadsMetrics> samples(4);
  for (HeadsMetrics& sample : samples) sample.heads.resize(2);
  samples[0].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.3, 0.3});
  samples[1].synergy = compare_with_best({{0.2, 0.9}, {0.3, 0.3}}, {0.4, 0.4});
  samples[2].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.1, 0.9});
  samples[3].synergy = compare_with_best({{0.2, 0.2}, {0.1, 0.1}}, {0.2, 0.2});
  const MeasuredLayer layer = summarise_layer(samples, {0.25});
  EXPECT_EQ(layer.all.synergy_share().value(), 0.25);
  EXPECT_EQ(layer.all.synergy_undecided, 2);
  EXPECT_EQ(layer.best_head_undecided, 1);
  EXPECT_EQ(layer.all[Quantity::kSynergy].undefined, 2U);
}

}  // namespace
}  // namespace synergraph
