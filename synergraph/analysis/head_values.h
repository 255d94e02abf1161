#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/subsets/subset_values.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The values that are among the given ones, each once, in the order in which they are reported.
std::vector<HeadValue> ordered_values(const std::vector<HeadValue>& given);

/// Measures every subset of the heads of every layer on every sample. Stopped if it was asked to
/// stop before the last.
HeadValues value_heads(AttentionSource& source, LayerWeights weights,
                       const HeadValueOptions& options);

/// The same, and the stack with its own weights if it is wanted, by several workers, see
/// share_samples(): `finish` gets what one process would have. A sample of a layer with H heads
/// leaves 2^H numbers a value on disk meanwhile, unless the layer is sampled.
SharedEnd value_heads_shared(
    AttentionSource& source, const LayerWeights& weights, const HeadValueOptions& options,
    const std::optional<StackOptions>& stack, const LayerWeights& stack_weights,
    const SharedSamples& how,
    const std::function<void(HeadValues, std::optional<StackAnalysis>)>& finish);

}  // namespace synergraph
#pragma GCC visibility pop
