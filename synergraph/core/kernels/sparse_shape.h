#pragma once

#include <cstdint>

namespace synergraph {

/// Steps in a panel of a sparse propagation: an edge is read once for all of them.
inline constexpr int kSparseSteps = 16;

/// x_{t+1}[j] = stay[j] x_t[j] + gain[j] (sum over edges e of j of weight[e] scale[i] x_t[i]),
/// where edge e leads to node i = target[e] > j. The edges of node j are first[j] .. first[j+1]-1.
struct SparsePanel {
  const std::int64_t* first = nullptr;
  const std::int32_t* target = nullptr;
  const double* weight = nullptr;  ///< null: all ones
  const double* stay = nullptr;
  const double* gain = nullptr;   ///< null: all ones
  const double* scale = nullptr;  ///< null: all ones
  double* states = nullptr;       ///< kSparseSteps numbers a node, on cache lines: scale[j] x_t[j]
  double* now = nullptr;          ///< x at the panel's first step; becomes x after its last
};

/// What a panel says of its nodes. Null pointers ask for nothing.
struct SparseReadings {
  double* peak = nullptr;       ///< raised to the largest state of each node
  double* peak_time = nullptr;  ///< the first step of that state
  double* sum = nullptr;        ///< grows by the states of the first `summed` steps of each node
  int summed = 0;
  double time = 0.0;         ///< of the panel's first step
  double* totals = nullptr;  ///< kSparseSteps sums over the nodes of this call
  double* worst = nullptr;   ///< kSparseSteps largest states over the nodes of this call
};

/// One node's states for many steps: x_{t+1} = stay x_t + sum over edges e of weight[e] times state
/// t of slot[e]. The states of slot k begin at states + k * stride.
struct NodeSteps {
  const double* states = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* slot = nullptr;
  const double* weight = nullptr;
  int edges = 0;
  double stay = 0.0;
  double start = 0.0;     ///< x_0
  int steps = 0;          ///< a multiple of kSparseSteps
  double* out = nullptr;  ///< x_0 .. x_{steps-1}
};

}  // namespace synergraph
