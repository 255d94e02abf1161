#pragma once

#include <span>
#include <vector>

#include "synergraph/core/convex_sum.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/core/names.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The rule that turns several heads, or one attention matrix, into a random walk (theory: "Three
/// walks").
enum class Normalization {
  kPerHead,    ///< each head's columns sum to one, then the convex sum: the walk of the theory
  kPooled,     ///< attention is summed over heads, then the pooled columns sum to one
  kPublished,  ///< unscaled pooled columns: mass above 1 is ignored, missing mass goes to the sink
};

template <>
inline constexpr NameTable<Normalization, 3> kNamesOf<Normalization>{{
    {Normalization::kPerHead, "per-head"},
    {Normalization::kPooled, "pooled"},
    {Normalization::kPublished, "published"},
}};

/// A random walk on a feedforward graph (theory: "Random walk matrix", there transposed). Row j
/// holds the probabilities step(j, i) of a step from j, which are zero for i < j. Rows sum to one,
/// and the sink stays.
struct Walk {
  Matrix step;
  /// leave[j] = sum over i > j of step(j, i) is the forward mass, which is never computed as 1 -
  /// step(j, j). So a walk that almost always stays keeps full relative precision.
  std::vector<double> leave;

  int nodes() const { return step.rows(); }
  int sink() const { return step.rows() - 1; }
};

/// Makes the walk of a graph. A step from j follows an outgoing edge in proportion to its weight (1
/// / outdegree for a 0/1 graph). A node without outgoing edges stays.
Walk walk_of_graph(const FeedforwardGraph& graph);

/// Makes the walk of an attention matrix. The step j -> i is proportional to A[i][j] (column j of
/// A, divided by its sum). A token that no token attends to, itself included, stays.
Walk walk_of_attention(ConstMatrixView attention);

/// Makes the walk of the published tables. A step from j draws u in [0, 1). The step goes to the
/// first i whose running sum of A[.][j] reaches u, or to the sink if no sum reaches u.
Walk published_walk(ConstMatrixView attention);

/// walk_of_attention() and published_walk() for mirrored attention, whose columns are contiguous.
Walk walk_of_columns(const MirroredMatrix& attention);
Walk published_walk_of_columns(const MirroredMatrix& attention);

/// Makes the backward walk of a diffusion matrix (theory: "Backward walk"): i -> j with probability
/// D(i, j), until node 0. Its nodes are counted from the other end, so that it goes forward: its
/// first node is the sink of D, and its sink is node 0 of D. A node that keeps all it gets stays.
Walk backward_walk(ConstMatrixView diffusion);

/// Computes published_walk_of_columns() in units of `whole`, in existing memory. All rows of the
/// attention sum to `whole`. rest[j] is the weight that row j gives to tokens before j. Rows of
/// `into` sum to `whole`. Entries of `into` below the diagonal and in the sink's row have arbitrary
/// values.
void cut_walk(ConstMatrixView columns, const double* rest, double whole, Walk& into);

/// Makes the walk with the given rows, which must be non-negative and upper triangular and sum to
/// one within 1e-9. Each row is divided by its sum. InputError names a wrong row. The sink is
/// absorbing: a non-zero entry beside the diagonal of the last row is an error too.
Walk walk_of_rows(ConstMatrixView rows);

/// The convex sum of walks that are added one at a time, sum_h w_h P_h (theory: "Multi-head walk");
/// see ConvexSum. The sum of copies of one walk equals that walk.
class WalkSum {
 public:
  explicit WalkSum(int nodes);
  void add(const Walk& walk, double weight) { add(walk.step, walk.leave.data(), weight); }
  void add(ConstMatrixView step, const double* leave, double weight);
  /// The same with a weight for every node, those of all walks of the sum: sum_h diag(w_h) P_h.
  void add_by_node(const Walk& walk, const double* weights);
  /// Returns the sum. No walk can be added afterwards.
  Walk take();

 private:
  ConvexSum step_;
  ConvexSum leave_;
  ConvexSum leave_by_node_;
  bool by_node_ = false;
};

/// Returns the convex sum of walks. walk(h) returns walk h, which stays valid until the next call.
template <class WalkOf>
Walk combine_walks(int nodes, std::span<const double> weights, WalkOf walk) {
  WalkSum sum(nodes);
  for (std::size_t h = 0; h < weights.size(); ++h) sum.add(walk(static_cast<int>(h)), weights[h]);
  return sum.take();
}

/// Returns for every node j whether a walk from j can reach the sink.
std::vector<bool> reaches_sink(const Walk& walk);

/// Returns for every node j the probability that a walk from j never reaches the sink, by back
/// substitution, without a subtraction.
std::vector<double> missing_probability(const Walk& walk);

}  // namespace synergraph
#pragma GCC visibility pop
