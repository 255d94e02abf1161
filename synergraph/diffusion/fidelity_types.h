#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/core/token_choice.h"

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
  /// Of these nodes only the chosen ones count; empty: all of them.
  TokenChoice from = {};
  /// The node of token 0: 1 behind a node for missing mass.
  int first_token = 0;
  /// The number of steps; 0: as many steps as the certificate needs.
  std::int64_t horizon = 0;
  /// The last time that counts. A result that is not certified by then is an interval. This
  /// interval belongs to exactly `step_limit` steps and does not depend on other options. Without a
  /// limit, repeated squaring searches later times.
  std::int64_t step_limit = std::numeric_limits<std::int64_t>::max();
  /// Certify every node's fidelity, not only the minimax.
  bool every_node = false;
  /// With a fixed horizon, stop as soon as the minimax is final. The fidelities of other nodes then
  /// lie between `node` and `node_upper`.
  bool minimax_alone = false;
};

/// Fidelity of every node and their minimum (theory: "Node fidelity", "Minimax fidelity").
struct Fidelity {
  /// phi_j = max over t >= 1 of the signal of j. With a certified horizon, phi_j is the supremum
  /// over all t.
  std::vector<double> node;
  /// Upper bounds of the signal at all later times. A bound equals `node` where `node` is certified
  /// or the horizon is fixed.
  std::vector<double> node_upper;
  /// The first t that attains phi_j to rounding ("Optimal fidelity time"). The time is infinite
  /// where the signal only approaches phi_j, as usually for node 0. Squaring finds times after
  /// max(2000, 4 n) steps, where peaks are flat. There the signal is within 1e-12 of phi_j.
  std::vector<double> optimal_time;

  double minimax = 1.0;  ///< min of `node` over the chosen nodes; 1 where there is none (n = 1)
  double minimax_upper = 1.0;  ///< equal to `minimax` when certified
  int minimax_node = 0;        ///< first node that attains the minimax
  double minimax_time = 0.0;   ///< optimal time of minimax_node
  /// True if the minimax is exact to rounding for all times: `minimax_upper` equals `minimax`.
  /// Fixed horizons are never certified. The fidelity of node j is certified where node_upper[j]
  /// equals node[j].
  bool certified = false;
  double steps = 0.0;  ///< number of diffusion steps
};

}  // namespace synergraph
#pragma GCC visibility pop
