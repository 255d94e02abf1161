#pragma once

#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The diffusion matrix of a graph (theory: "Diffusion matrix"): D(i, j) is what receiver i takes
/// from sender j, in proportion to the weights of i's incoming edges (1 / indegree for a 0/1
/// graph). A node without incoming edges keeps what it has. Lower triangular, rows sum to one.
Matrix diffusion_matrix(const FeedforwardGraph& graph);

/// Signal at the sink (theory: "Signal at the sink"): result(t, j) = (D^t)(sink, j), 0 <= t <=
/// steps. Stopped if it was asked to stop before the last.
Matrix signal_curves(ConstMatrixView diffusion, int steps, const Execution& execution = {});

/// Node and minimax fidelity of one diffusion matrix (lower triangular, rows summing to one).
///
/// The certificate: signal only moves to lower nodes, so S_j(t), the signal at nodes >= j, never
/// grows and bounds every later r_t[j]; node j is final once S_j(t) <= phi_j. The minimax is final
/// once the node that attains it is. For that node a sharper bound is used as well: r_t weighted
/// with the probability of ever being passed on to it. A node that keeps what it gets (D(j, j) = 1)
/// has a non-decreasing signal whose supremum, the absorption probability, is one triangular solve.
/// Where thousands of steps do not certify the result, repeated squaring does, to a relative 1e-12:
/// spans of time that cannot hold the peak are ruled out, the others halved. The threads and the
/// memory are for these squarings: where the memory does not hold the powers, the result is an
/// interval.
Fidelity fidelity(ConstMatrixView diffusion, const FidelityOptions& options = {},
                  const Execution& execution = {});

/// The same under several options at once, from one propagation.
std::vector<Fidelity> fidelities(const MirroredMatrix& diffusion,
                                 const std::vector<FidelityOptions>& options,
                                 const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
