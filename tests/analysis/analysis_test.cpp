#include "synergraph/analysis/analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/analysis/attention_file.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/io/npy.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention_system;
using testing_support::System;

using AnalysisFileTest = InTemporaryDirectory;

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

/// Two samples up to three sinks each.
std::vector<HeadsMetrics> two_samples_of_three_sinks() {
  std::vector<HeadsMetrics> systems(6);
  const double fidelities[] = {0.1, 0.3, 0.2, 0.5, 0.7, 0.6};
  for (std::size_t s = 0; s < 6; ++s) {
    systems[s].combined.forward_probability = 1.0;  // its walk was measured
    systems[s].combined.fidelity.minimax = fidelities[s];
    systems[s].heads.resize(1);
    systems[s].heads[0].fidelity.minimax = 0.5 * fidelities[s];
    const double combined = s < 2 ? 0.2 : 0.1;
    systems[s].synergy =
        compare_with_best(std::vector<FidelityRange>(1, {0.1, 0.1}), {combined, combined});
  }
  return systems;
}

// The sinks of a sample are one: the deviation is that of two means, 0.2 and 0.6.
TEST(AnalysisTest, DoesNotCountSinksAsSamples) {
  const std::vector<HeadsMetrics> systems = two_samples_of_three_sinks();
  const MeasuredLayer layer = summarise_layer(systems, {}, 3);
  const Summary& fidelity = layer.all[Quantity::kMinimaxFidelity];
  EXPECT_EQ(fidelity.samples, 2U);
  EXPECT_DOUBLE_EQ(fidelity.mean, 0.4);
  EXPECT_DOUBLE_EQ(fidelity.std, 0.2);
  EXPECT_DOUBLE_EQ(layer.heads[0][Quantity::kMinimaxFidelity].std, 0.1);
  // Counts are of all sinks.
  EXPECT_EQ(layer.all.synergy_share().trials, 6);
  EXPECT_DOUBLE_EQ(layer.all.synergy_share().value(), 1.0 / 3.0);
  EXPECT_EQ(layer.heads[0].best.trials, 6);
  // One sample has no deviation from others, however many sinks it has.
  EXPECT_EQ(summarise_layer(systems, {}, 6).all[Quantity::kMinimaxFidelity].samples, 1U);
}

// A sink that is never reached makes its sample's mean infinite; one without the number is left
// out.
TEST(AnalysisTest, AveragesTheSinksThatHaveANumber) {
  std::vector<HeadsMetrics> systems = two_samples_of_three_sinks();
  systems[1].combined.walk.hitting.mean = std::numeric_limits<double>::infinity();
  for (const std::size_t s : {3U, 4U, 5U})
    systems[s].combined.walk.hitting.mean = static_cast<double>(s);
  systems[4].synergy.value = std::nan("");
  const MeasuredLayer layer = summarise_layer(systems, {}, 3);
  EXPECT_EQ(layer.all[Quantity::kHittingMean].never, 1U);
  EXPECT_DOUBLE_EQ(layer.all[Quantity::kHittingMean].mean, 4.0);
  EXPECT_EQ(layer.all[Quantity::kSynergy].undefined, 0U);
}

// Of heads that are the best equally often the first is named, whichever sample comes first.
TEST(AnalysisTest, NamesTheFirstOfTheHeadsThatAreBestEquallyOften) {
  const auto best_of = [](const std::vector<int>& best) {
    std::vector<HeadsMetrics> samples(best.size());
    for (std::size_t s = 0; s < best.size(); ++s) {
      samples[s].heads.resize(4);
      samples[s].synergy.best_head = best[s];
    }
    return summarise_layer(samples, {0.25}).best_head;
  };
  EXPECT_EQ(best_of({2, 1}), 1);
  EXPECT_EQ(best_of({1, 2}), 1);
  EXPECT_EQ(best_of({3, 2, 3, 2, 0}), 2);
  EXPECT_EQ(best_of({3, 1, 3, 2}), 3);
}

// A file and a view of the same memory: the same numbers, bit for bit.
TEST_F(AnalysisFileTest, EqualsAViewOfTheSameAttention) {
  constexpr int kSamples = 5;
  constexpr int kHeads = 3;
  constexpr int kTokens = 20;
  RandomSequence draws(8, Purpose::kTest, 0);
  std::vector<float> values;
  for (int k = 0; k < kSamples * kHeads; ++k) {
    const Matrix attention = testing_support::random_attention(kTokens, 2.0, draws);
    for (int i = 0; i < kTokens; ++i)
      for (int j = 0; j < kTokens; ++j) values.push_back(static_cast<float>(attention(i, j)));
  }
  write_npy(path("a.npy"), tensor_data("", {kSamples, kHeads, kTokens, kTokens}, values.data()));
  const std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact),
                                                   convention_options(Convention::kPublished)};
  const std::vector<double> weights = {0.5, 0.25, 0.25};
  const auto file = open_attention_file(TensorFile::open(path("a.npy")), {.range = {3, 18}});
  const Analysis analysis = analyse(*file, {weights}, {conventions, {}});
  BatchOptions options{.conventions = conventions};
  for (int sample = 0; sample < kSamples; ++sample) options.sequences.push_back({sample, 3, 18});
  const BatchMetrics batch =
      measure(attention_view(values.data(), kSamples, kHeads, kTokens), weights, options);
  for (std::size_t c = 0; c < conventions.size(); ++c)
    for (std::size_t s = 0; s < kSamples; ++s) {
      const HeadsMetrics& a = analysis.samples[c][0][s];
      const HeadsMetrics& b = batch.sequences[c][s];
      const std::vector<double>& eps = conventions[c].walk.eps;
      for (const Quantity& quantity : layer_quantities(eps))
        EXPECT_EQ(value_of(quantity, a, eps), value_of(quantity, b, eps)) << key_of(quantity);
      for (const Quantity& quantity : system_quantities(eps))
        for (std::size_t h = 0; h < kHeads; ++h)
          EXPECT_EQ(value_of(quantity, a.heads[h], eps), value_of(quantity, b.heads[h], eps))
              << key_of(quantity);
    }
}

}  // namespace
}  // namespace synergraph
