#pragma once

#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns the diffusion matrix of a graph (theory: "Diffusion matrix"). D(i, j) is the share that
/// receiver i takes from sender j. Shares are proportional to the weights of i's incoming edges (1
/// / indegree for a 0/1 graph). A node without incoming edges keeps its signal. The matrix is lower
/// triangular, and rows sum to one.
Matrix diffusion_matrix(const FeedforwardGraph& graph);

/// Returns the signal at the sink (theory: "Signal at the sink"): result(t, j) = (D^t)(sink, j), 0
/// <= t <= steps. Throws Stopped after a stop request before the last step.
Matrix signal_curves(ConstMatrixView diffusion, int steps, const Execution& execution = {});

/// Computes node and minimax fidelity of one diffusion matrix (lower triangular, rows sum to one).
///
/// The certificate uses S_j(t), the signal at nodes >= j. Signal only moves to lower nodes. So
/// S_j(t) never grows and bounds every later r_t[j]. Node j is final once S_j(t) <= phi_j. The
/// minimax is final once the node that attains the minimax is final. That node also has a sharper
/// bound: r_t weighted with the probability of ever being passed on to the node. A node that keeps
/// what it gets (D(j, j) = 1) has a non-decreasing signal. The supremum of this signal is the
/// absorption probability, which takes one triangular solve.
///
/// Where thousands of steps do not certify the result, repeated squaring certifies the result to a
/// relative 1e-12. The search rules out spans of time that cannot hold the peak and halves the
/// other spans. Threads and memory serve these squarings. If the powers do not fit in memory, the
/// result is an interval.
Fidelity fidelity(ConstMatrixView diffusion, const FidelityOptions& options = {},
                  const Execution& execution = {});

/// Computes the fidelity under several options at once, from one propagation.
std::vector<Fidelity> fidelities(const MirroredMatrix& diffusion,
                                 const std::vector<FidelityOptions>& options,
                                 const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
