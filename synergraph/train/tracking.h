#pragma once

#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How fast and how faithfully a layer's heads together move information to the last token: means
/// over sequences, by the exact convention (pooled walk, certified fidelity over the sources).
struct LayerTrack {
  double mixing_time = 0.0;         ///< T_mix(1/4); infinite when it is for one sequence
  double hitting_time = 0.0;        ///< mean over start nodes, untruncated; may be infinite
  double truncated_time = 0.0;      ///< the same, cut at 100 steps: the mixing-time proxy
  double fidelity = 0.0;            ///< minimax fidelity of the heads together
  double best_head_fidelity = 0.0;  ///< of the best head alone
};

/// The model's layers on the first `samples` of the inputs, with the learned head weights.
std::vector<LayerTrack> track_layers(const Model& model, const Sequences& inputs, int samples,
                                     const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
