#pragma once

#include <limits>
#include <span>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/diffusion/fidelity_types.h"

namespace synergraph {

/// What heads could do if every node chose its head anew at every step (theory: "Best weights").
/// No weighting of the heads does better. Heads are mirrored matrices.

/// Bounds of the signal of a node at the sink over all times, by the head that the sink takes
/// first: with weights w no signal exceeds sum_h w_h first[h].
struct SignalBound {
  std::vector<double> first;
  double most() const;
};

/// U_0 = e_node, U_t(i) = max_h (D_h U_{t-1})(i): first[h] = max_t (D_h U_{t-1})(sink). Later times
/// than are stepped through are bounded by Y_t: the same recursion from V(i), the largest chance
/// that a way back from i ever comes through the node, lowered by tighten_later(). Gives up, with
/// infinity, once `most()` would exceed `enough`.
SignalBound signal_bound(std::span<const ConstMatrixView> heads, int node,
                         const FidelityOptions& options,
                         double enough = std::numeric_limits<double>::infinity());

/// One step of the recursion, in place, over nodes from `node` on: state(i) becomes the largest of
/// values(h, i) = (D_h state)(i), or the least.
void advance_most(std::span<const ConstMatrixView> heads, int node, std::vector<double>& state,
                  Matrix& values);
void advance_least(std::span<const ConstMatrixView> heads, int node, std::vector<double>& state);

/// Lowers what bounds the states of all later times by what the state now says of them: no later
/// one of node i exceeds the largest now at `node` to i, since rows sum to at most one.
void tighten_later(int node, const std::vector<double>& state, std::vector<double>& later);

/// What the chance lies between that a way back from i ever comes through `node`.
struct PassingBounds {
  std::vector<double> least, most;
};
PassingBounds passing_bounds(std::span<const ConstMatrixView> heads, int node);

}  // namespace synergraph
