#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "synergraph/core/names.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Which nodes count for the minimax fidelity.
enum class FidelityNodes {
  kSources,  ///< all but the sink
  kAll,      ///< the sink too, from t = 1 on: its own self-signal. The published tables use this.
};

template <>
inline constexpr NameTable<FidelityNodes, 2> kNamesOf<FidelityNodes>{
    {{FidelityNodes::kSources, "sources"}, {FidelityNodes::kAll, "all"}}};

struct FidelityOptions {
  FidelityNodes nodes = FidelityNodes::kSources;
  /// Steps looked at; 0: as many as it takes to certify the result.
  std::int64_t horizon = 0;
  /// Times beyond this one are not looked at: where the result is not certified by then, it is an
  /// interval, that of exactly so many steps whatever else is asked for. Without a limit, later
  /// times are searched by repeated squaring.
  std::int64_t step_limit = std::numeric_limits<std::int64_t>::max();
  /// Certify every node's fidelity, not only the minimax.
  bool every_node = false;
  /// With a fixed horizon: stop as soon as the minimax is final. The other nodes' fidelities are
  /// then only known to lie between `node` and `node_upper`.
  bool minimax_alone = false;
};

/// Fidelity of every node and their minimum (theory: "Node fidelity", "Minimax fidelity").
struct Fidelity {
  /// phi_j = max over t >= 1 of the signal of j; with a certified horizon its supremum over all t.
  std::vector<double> node;
  /// Nothing later can exceed this; equal to `node` where that is certified or the horizon is
  /// fixed.
  std::vector<double> node_upper;
  /// The first t that attains phi_j to rounding ("Optimal fidelity time"); infinity where phi_j is
  /// only approached, as mostly by node 0. Where squaring found it, after max(2000, 4 n) steps, the
  /// peaks are flat: then it is a time at which the signal is within 1e-12 of phi_j.
  std::vector<double> optimal_time;

  double minimax = 1.0;  ///< min of `node` over the chosen nodes; 1 where there is none (n = 1)
  double minimax_upper = 1.0;  ///< equal to `minimax` when certified
  int minimax_node = 0;        ///< the first node that attains it
  double minimax_time = 0.0;   ///< its optimal time
  /// The minimax is exact to rounding for all times: `minimax_upper` equals it. Fixed horizons
  /// never are. Node j's own fidelity is where node_upper[j] equals node[j].
  bool certified = false;
  double steps = 0.0;  ///< diffusion steps looked at
};

}  // namespace synergraph
#pragma GCC visibility pop
