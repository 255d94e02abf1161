#include "synergraph/study/measure_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "synergraph/analysis/head_weights.h"

namespace synergraph {
namespace {

/// A small model with random weights, on random sequences.
class MeasureModel : public testing::Test {
 protected:
  MeasureModel() : model_(kConfig) { initialise(model_, 3); }

  ModelMeasurement measured(std::int64_t horizon) const {
    MeasureSettings settings;
    settings.horizon = horizon;
    return measure_model(model_, task_, sequences_, settings, {.threads = 1});
  }

  static constexpr ModelConfig kConfig = {
      .vocabulary = 9, .length = 6, .width = 8, .heads = 2, .layers = 2, .hidden = 8};
  Model model_;
  const Task& task_ = find_task("copy");
  Sequences sequences_ = random_sequences(1, 5, kConfig.length, kConfig.vocabulary);
};

// The exact fidelity is a supremum over all times: it has no horizon.
TEST_F(MeasureModel, TheHorizonIsThePublishedConventionsAlone) {
  const ModelMeasurement near = measured(1);
  const ModelMeasurement far = measured(100);
  for (std::size_t l = 0; l < near.exact.size(); ++l)
    for (const auto& [quantity, summary] : near.exact[l].numbers)
      EXPECT_EQ(summary.mean, far.exact[l][quantity].mean) << key_of(quantity);
  for (std::size_t l = 0; l < near.published.size(); ++l)
    EXPECT_LT(near.published[l][Quantity::kMinimaxFidelity].mean,
              far.published[l][Quantity::kMinimaxFidelity].mean);
}

// After one step a token's signal is what the last token takes from it: min_j of
// sum_h w_h A_h(n - 1, j), the sink among the nodes.
TEST_F(MeasureModel, OneStepOfFidelityIsTheLeastWeightOfTheLastRow) {
  const LayerWeights weights = weights_of_model(model_);
  std::vector<double> expected(static_cast<std::size_t>(kConfig.layers), 0.0);
  EvaluateOptions options;
  options.execution.threads = 1;
  options.attention = [&](const SampleAttention& attention) {
    double least = 1.0;
    for (int j = 0; j < attention.length; ++j) {
      double signal = 0.0;
      for (int h = 0; h < attention.heads; ++h)
        signal += weights[static_cast<std::size_t>(attention.layer)][static_cast<std::size_t>(h)] *
                  attention.head(h)(attention.length - 1, j);
      least = std::min(least, signal);
    }
    expected[static_cast<std::size_t>(attention.layer)] += least / sequences_.count;
  };
  evaluate(model_, sequences_, sequences_, options);
  const ModelMeasurement one = measured(1);
  ASSERT_EQ(one.published.size(), expected.size());
  for (std::size_t l = 0; l < expected.size(); ++l)
    EXPECT_NEAR(one.published[l][Quantity::kMinimaxFidelity].mean, expected[l], 1e-6);
}

}  // namespace
}  // namespace synergraph
