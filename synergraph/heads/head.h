#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/working_memory.h"
#include "synergraph/graph/multi_head_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One head of a multi-head system: how it diffuses, and how it walks.
struct Head {
  std::string name;
  Matrix diffusion;  ///< D(i, j), rows sum to one; for attention, the attention itself
  std::optional<Walk> graph_walk;  ///< of a graph: along its edges. Attention walks by its columns.
};

/// The heads of a multi-head graph. InputError, before anything is allocated, where measuring them
/// needs more than `memory` bytes: a short text can describe many large matrices. `remedy` ends the
/// message: how to raise the limit, if there is a way.
std::vector<Head> heads_of_graph(const MultiHeadGraph& graph,
                                 std::size_t memory = WorkingMemory().bytes(),
                                 const std::string& remedy = "");

/// A head from a causal attention matrix that has been through normalise_attention().
Head head_of_attention(std::string name, Matrix attention);

/// Convex weights: `raw` divided by its sum. InputError unless there is one for every head, all
/// finite and non-negative, not all zero.
std::vector<double> normalised_weights(const std::vector<double>& raw, std::size_t heads);

/// The same, but weights whose sum is 1 to rounding are already convex and stay as they are.
std::vector<double> convex_weights(const std::vector<double>& raw, std::size_t heads);

/// Learned weights (theory: "Learned head weights"): the Frobenius norms of the H column blocks of
/// an attention output projection (rows = outputs), normalised.
std::vector<double> learned_weights(ConstMatrixView output_projection, int heads);

/// D = sum_h w_h D_h (theory: "Multi-head diffusion operator"), each entry rounded once: see
/// ConvexSum. Copies of one head give that head.
Matrix combine_diffusion(const std::vector<Head>& heads, const std::vector<double>& weights);

/// The walk of one head alone under a normalisation; `own` is that along the edges of a graph. That
/// of pooled heads is the walk of their combined diffusion.
Walk head_walk(const MirroredMatrix& diffusion, Normalization normalization,
               const Walk* own = nullptr);
Walk head_walk(const Head& head, Normalization normalization);

/// The walk of all heads together under a normalisation (theory: "Three walks").
Walk combine_walk(const std::vector<Head>& heads, const std::vector<double>& weights,
                  Normalization normalization);

}  // namespace synergraph
#pragma GCC visibility pop
