#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How fast and how faithfully a layer's heads together move information to the last token: means
/// over sequences, by the exact convention (pooled walk, certified fidelity over the sources).
/// Times are infinite when they are for one sequence.
using LayerTrack = std::map<Quantity, double>;

/// What is tracked, and its keys in the log.
inline constexpr std::array<std::pair<const char*, Quantity>, 5> kTrackedQuantities = {{
    {"mixing_time", Quantity::mixing_time(0.25)},
    {"hitting_time", Quantity::kHittingMean},
    {"truncated_time", Quantity::kTruncatedHittingMean},
    {"fidelity", Quantity::kMinimaxFidelity},
    {"best_head_fidelity", Quantity::kBestHeadFidelity},
}};

/// The model's layers on the first `samples` of the inputs, with the learned head weights. Stopped
/// if asked to stop.
std::vector<LayerTrack> track_layers(const Model& model, const Sequences& inputs, int samples,
                                     const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
