#pragma once

#include <functional>
#include <span>
#include <vector>

#include "synergraph/analysis/layer_head_values.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Computes the values of sets of the heads of a layer, each set in rising order, on all samples:
/// values[k * samples + s] is the value of set k on sample s. No head is worth 0.
using GameFunction = std::function<void(int layer, std::span<const std::vector<int>> sets,
                                        std::span<double> values)>;

/// Values heads by a function, such as the loss of a model that runs elsewhere. All samples of a
/// set are computed at once, so sampled layers draw the same orders for all samples. Their standard
/// errors contain both the differences between samples and the sampling of orders. The best
/// subsets of a sampled layer are the best of the beginnings of the orders and of greedy addition
/// and removal.
///
/// The function is called by one thread, the calling one. No set of a sampled layer is asked for
/// twice. `options` says how exact layers, sampling (its `pairs` too) and `keep` are meant; the
/// rest of the options is not used. InputError where a value is not finite.
HeadValues value_games(std::vector<AttentionLayer> layers, const GameFunction& values,
                       const HeadValueOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
