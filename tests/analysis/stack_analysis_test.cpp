#include "synergraph/analysis/stack_analysis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/error.h"
#include "synergraph/train/data.h"
#include "tests/heads/memory_source.h"

namespace synergraph {
namespace {

using testing_support::MemorySource;

/// A model with random parameters runs through all its layers at once, twice; heads in memory are
/// visited layer by layer.
class StackAnalysisTest : public testing::Test {
 protected:
  static Model random_model() {
    ModelConfig config;
    config.vocabulary = 7;
    config.length = 9;
    config.width = 8;
    config.hidden = 8;
    config.heads = 2;
    config.layers = 3;
    Model model(config);
    initialise(model, 5);
    return model;
  }
};

/// The attention of a source, kept.
MemorySource::Systems kept_attention(AttentionSource& source) {
  MemorySource::Systems systems(source.layers().size());
  const auto reader = source.reader({});
  for (const AttentionPiece& piece : source.pieces(0, source.layers().front().samples)) {
    reader->open(piece);
    reader->visit([&](int layer, HeadSource& heads) {
      auto& kept = systems[static_cast<std::size_t>(layer)].emplace_back();
      for (int h = 0; h < heads.heads(); ++h) {
        Matrix lower(heads.nodes(), heads.nodes());
        for (int i = 0; i < heads.nodes(); ++i)
          for (int j = 0; j <= i; ++j) lower(i, j) = heads.head(h).view()(i, j);
        kept.push_back(head_of_attention("", std::move(lower)));
      }
    });
  }
  return systems;
}

TEST_F(StackAnalysisTest, IsTheSameLayerByLayerAndOnAnyThreads) {
  const Model model = random_model();
  ModelAttention source(model, random_sequences(3, 6, 9, 7), nullptr, {});
  const LayerWeights weights = weights_of_model(model);
  StackOptions options;
  options.execution.threads = 1;
  const StackAnalysis whole = analyse_stack(source, weights, options);
  MemorySource kept(kept_attention(source));
  options.execution.threads = 3;
  const StackAnalysis pieces = analyse_stack(kept, weights, options);
  ASSERT_EQ(whole.samples, 6);
  EXPECT_NEAR(pieces.fidelity.mean, whole.fidelity.mean, 1e-14 * whole.fidelity.mean);
  EXPECT_NEAR(pieces.fidelity.error, whole.fidelity.error, 1e-12 * whole.fidelity.error);
  EXPECT_EQ(pieces.weakest, whole.weakest);
  double signal = 0.0;
  for (const Estimate& token : whole.signal) signal += token.mean;
  EXPECT_NEAR(signal, 1.0, 1e-14);
  for (std::size_t l = 0; l < 3; ++l) {
    double share = whole.flows[l].residual.mean;
    for (std::size_t h = 0; h < 2; ++h) {
      share += whole.flows[l].heads[h].mean;
      EXPECT_NEAR(pieces.flows[l].heads[h].mean, whole.flows[l].heads[h].mean, 1e-14);
    }
    EXPECT_NEAR(share, 1.0, 1e-14);
  }
  options.execution.threads = 1;
  const StackAnalysis again = analyse_stack(kept, weights, options);
  EXPECT_EQ(again.effective_tokens.mean, pieces.effective_tokens.mean);
  EXPECT_EQ(again.effective_tokens.error, pieces.effective_tokens.error);
}

TEST_F(StackAnalysisTest, ATokenIsFollowedBehindTheNodeForMissingMass) {
  AttentionLayer layer{"1", 1, 1, 5};
  EXPECT_EQ(followed_node({layer}, 4), 4);
  EXPECT_THROW(followed_node({layer}, 5), InputError);
  EXPECT_THROW(followed_node({layer}, -1), InputError);
  EXPECT_THROW(followed_node({}, 0), InputError);
  layer.missing_mass = MissingMass::kNode;
  EXPECT_EQ(followed_node({layer}, 4), 5);
  EXPECT_THROW(followed_node({layer}, 5), InputError);
}

TEST_F(StackAnalysisTest, LayersMustFitAndWorkCanBeStopped) {
  const Model model = random_model();
  ModelAttention source(model, random_sequences(3, 2, 9, 7), nullptr, {});
  const LayerWeights weights = weights_of_model(model);
  MemorySource::Systems uneven = kept_attention(source);
  uneven[1].pop_back();
  MemorySource fewer(std::move(uneven));
  EXPECT_THROW(analyse_stack(fewer, weights, {}), InputError);
  StackOptions stopped;
  stopped.execution.stop = [] { return true; };
  EXPECT_THROW(analyse_stack(source, weights, stopped), Stopped);
}

}  // namespace
}  // namespace synergraph
