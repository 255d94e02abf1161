#pragma once

#include <optional>
#include <vector>

#include "synergraph/analysis/model_attention.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Of all that makes up a token after a layer, the part that each head moves there: its L1
/// contributions divided by those of all heads and of the residual (theory: "What a head moves").
/// Means over tokens and samples, by layer.
using MovedShares = std::vector<std::vector<double>>;

/// The shares on the first samples, at most kMovedSamples, of a model that runs on the CPU. Nothing
/// of another source: it does not know what its heads move.
inline constexpr int kMovedSamples = 20;
std::optional<MovedShares> moved_shares(AttentionSource& source, const Execution& execution);

}  // namespace synergraph
#pragma GCC visibility pop
