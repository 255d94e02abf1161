#pragma once

#include <optional>
#include <vector>

#include "synergraph/analysis/head_weights.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/stack.h"
#include "synergraph/statistics/estimate.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How much of the followed token's signal passes one layer's heads, and beside them.
struct LayerFlow {
  std::vector<Estimate> heads;
  Estimate residual;
};

/// All layers applied once each, over samples (theory: "Through the layers").
struct StackAnalysis {
  StackOptions options;
  std::vector<AttentionLayer> layers;
  int samples = 0;
  Estimate fidelity;             ///< of the weakest source
  Estimate effective_tokens;     ///< that the sink hears of
  std::vector<Estimate> signal;  ///< of every token at the sink
  /// In so many samples a token is the weakest. (Where mass is missing, the first is the node that
  /// takes it, here and in `signal`.)
  std::vector<int> weakest;
  /// Of the token that the options name, or of each sample's weakest; samples in which that has no
  /// signal at all are left out and counted.
  std::vector<LayerFlow> flows;
  int without_signal = 0;
  /// Of all that reaches the sink, how much passes each head, and beside them.
  std::vector<LayerFlow> shares;
  bool measured_residual = false;  ///< what passes beside the heads was measured, not assumed
  std::vector<Estimate> flow;      ///< of every token to the sink, where StackOptions ask for it
  std::vector<Stack> each;         ///< every sample's
};

/// The node of StackOptions::token for a token of these layers: one more where the first node is
/// the one that takes what is missing from rows. InputError where there is no such token.
int followed_node(const std::vector<AttentionLayer>& layers, std::int64_t token);

/// Measures the stack on every sample. InputError unless all layers have the same tokens and
/// samples. Stopped if it was asked to stop before the last.
StackAnalysis analyse_stack(AttentionSource& source, const LayerWeights& weights,
                            const StackOptions& options);

/// The same in parts: an analysis of samples that are not yet measured, some of them measured, and
/// what all say.
StackAnalysis begin_stack(const AttentionSource& source, const LayerWeights& weights,
                          const StackOptions& options);
void measure_stacks(AttentionSource& source, const LayerWeights& weights,
                    const std::vector<SampleRange>& ranges, StackAnalysis& analysis);
void finish_stack(StackAnalysis& analysis);

}  // namespace synergraph
#pragma GCC visibility pop
