#pragma once

#include "synergraph/core/names.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the weights of heads are chosen for (theory: "Best weights").
enum class WeightGoal {
  kFidelity,     ///< the largest minimax fidelity
  kSpeed,        ///< the largest 1 - E[min(T, M)] / M, M the cutoff, over all start nodes
  kHittingTime,  ///< the smallest mean of the untruncated hitting time over all start nodes
};

template <>
inline constexpr NameTable<WeightGoal, 3> kNamesOf<WeightGoal>{
    {{WeightGoal::kFidelity, "fidelity"},
     {WeightGoal::kSpeed, "speed"},
     {WeightGoal::kHittingTime, "hitting-time"}}};

}  // namespace synergraph
#pragma GCC visibility pop
