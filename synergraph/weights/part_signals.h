#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/weights/simplex_program.h"

namespace synergraph {

/// Bounds of the signals of one system in a part of the simplex, all weightings of some corners:
/// with shares b of the corners and y_kl = b_k b_l, both ways round, no signal of a node exceeds
/// the sum over pairs of y_kl slope[pair_index(k, l)] of any of its rows. `corners` are the heads
/// combined at each corner, `centre` those at the mean of all, mirrored.
///
/// Two rows a node. By policy: the first two steps are made by all nodes with the same shares, the
/// others as each node likes,
///   e_sink D^t e_j <= sum over k, l of b_k b_l (D_k D_l U_{t-2})(sink).
/// By what a signal differs from that at the centre: with r_s = e_sink C^s of the centre C,
///   e_sink D^t e_j = r_t(j) + sum_k b_k sum_{s<t} (r_s D_k - r_{s+1}) D^{t-1-s} e_j,
/// the last factor being between the least and the most that choosing corners makes of it.
std::vector<WeightPiece> signal_rows(std::span<const ConstMatrixView> corners,
                                     const MirroredMatrix& centre, std::span<const int> nodes,
                                     const FidelityOptions& options, std::size_t group);

}  // namespace synergraph
