#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/kernels/simd.h"

// Sixteen steps of x_{t+1} = U x_t, U upper triangular and sparse. Nodes are finished from the last
// to the first, so an edge is read once for sixteen steps: its target's states are two cache lines.
// Inside a node the steps form a linear recurrence. The states of a million nodes take 128 MB, so
// the way of those cache lines from memory, or from the last cache, limits it. The lines of edges
// further on are asked for early.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

constexpr int kVectors = kSparseSteps / kDoubles;
constexpr int kAhead = 12;  // edges between asking for a line and using it

/// sums = the sum over edges [begin, end) of weight times the states of their targets, from the
/// last edge to the first. Edges from `low` on are read after them.
template <bool kWeighted>
[[gnu::always_inline]] inline void gather(const SparsePanel& panel, std::int64_t low,
                                          std::int64_t begin, std::int64_t end, double* sums) {
  Doubles even[kVectors] = {};
  Doubles odd[kVectors] = {};
  const auto states_of = [&](std::int64_t e) __attribute__((always_inline)) {
    return panel.states + static_cast<std::int64_t>(panel.target[e]) * kSparseSteps;
  };
  const auto add = [&](std::int64_t e, Doubles * into) __attribute__((always_inline)) {
    const double* later = states_of(larger(e - kAhead, low));
    __builtin_prefetch(later);
    __builtin_prefetch(later + 8);
    const double* states = states_of(e);
    for (int v = 0; v < kVectors; ++v) {
      const auto state = load<Doubles>(states + v * kDoubles);
      if constexpr (kWeighted)
        into[v] += splat<Doubles>(panel.weight[e]) * state;
      else
        into[v] += state;
    }
  };
  std::int64_t e = end - 1;
  for (; e > begin; e -= 2) {
    add(e, even);
    add(e - 1, odd);
  }
  if (e == begin) add(e, even);
  for (int v = 0; v < kVectors; ++v) store(sums + v * kDoubles, even[v] + odd[v]);
}

template <bool kWeighted>
void advance_nodes(const SparsePanel& panel, int begin, int end, const SparseReadings& readings) {
  Doubles totals[kVectors] = {};
  Doubles worst[kVectors] = {};
  const std::int64_t low = panel.first[begin];
  for (int j = end - 1; j >= begin; --j) {
    alignas(64) double sums[kSparseSteps];
    gather<kWeighted>(panel, low, panel.first[j], panel.first[j + 1], sums);
    const double stay = panel.stay[j];
    const double gain = panel.gain != nullptr ? panel.gain[j] : 1.0;
    alignas(64) double own[kSparseSteps];
    double x = panel.now[j];
    for (int k = 0; k < kSparseSteps; ++k) {
      own[k] = x;
      x = stay * x + gain * sums[k];
    }
    panel.now[j] = x;
    const auto scale = splat<Doubles>(panel.scale != nullptr ? panel.scale[j] : 1.0);
    double* states = panel.states + static_cast<std::int64_t>(j) * kSparseSteps;
    for (int v = 0; v < kVectors; ++v) {
      const auto value = load<Doubles>(own + v * kDoubles);
      store(states + v * kDoubles, value * scale);
      totals[v] += value;
      worst[v] = value > worst[v] ? value : worst[v];
    }
    if (readings.peak != nullptr) {
      double peak = readings.peak[j];
      for (int k = 0; k < kSparseSteps; ++k) {
        if (!(own[k] > peak)) continue;
        peak = own[k];
        readings.peak_time[j] = readings.time + k;
      }
      readings.peak[j] = peak;
    }
    if (readings.sum != nullptr) {
      double sum = 0.0;
      for (int k = 0; k < readings.summed; ++k) sum += own[k];
      readings.sum[j] += sum;
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    if (readings.totals != nullptr) store(readings.totals + v * kDoubles, totals[v]);
    if (readings.worst != nullptr) store(readings.worst + v * kDoubles, worst[v]);
  }
}

/// sums = the sum over edges of weight times states t .. t + kCount registers.
template <int kCount>
[[gnu::always_inline]] inline void gather_steps(const NodeSteps& node, int t, double* sums) {
  Doubles total[kCount] = {};
  for (int e = 0; e < node.edges; ++e) {
    const double* states = node.states + static_cast<std::int64_t>(node.slot[e]) * node.stride + t;
    const auto weight = splat<Doubles>(node.weight[e]);
    for (int v = 0; v < kCount; ++v) total[v] += weight * load<Doubles>(states + v * kDoubles);
  }
  for (int v = 0; v < kCount; ++v) store(sums + v * kDoubles, total[v]);
}

}  // namespace

// Inside a node the steps form a linear recurrence, which takes as long as some four edges do.
double advance_node(const NodeSteps& node) {
  constexpr int kRegisters = 8;
  constexpr int kBlock = kRegisters * kDoubles;
  alignas(64) double sums[kBlock];
  double x = node.start;
  double most = x;
  for (int t = 0; t < node.steps;) {
    int count = kVectors * kDoubles;
    if constexpr (kBlock > kSparseSteps) {
      if (node.steps - t >= kBlock) count = kBlock;
    }
    if (count == kBlock)
      gather_steps<kRegisters>(node, t, sums);
    else
      gather_steps<kVectors>(node, t, sums);
    for (int k = 0; k < count; ++k) {
      node.out[t + k] = x;
      most = larger(most, x);
      x = node.stay * x + sums[k];
    }
    t += count;
  }
  return most;
}

void advance_sparse(const SparsePanel& panel, int begin, int end, const SparseReadings& readings) {
  if (panel.weight != nullptr)
    advance_nodes<true>(panel, begin, end, readings);
  else
    advance_nodes<false>(panel, begin, end, readings);
}

}  // namespace synergraph::SYNERGRAPH_ISA
