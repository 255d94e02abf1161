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

/// How several heads, or one attention matrix, become a random walk (theory: "Three walks").
enum class Normalization {
  kPerHead,    ///< each head's columns sum to one, then the convex sum: the object of the theory
  kPooled,     ///< attention is summed over heads, then the pooled columns sum to one
  kPublished,  ///< pooled columns as they are: mass above 1 unseen, missing mass goes to the sink
};

template <>
inline constexpr NameTable<Normalization, 3> kNamesOf<Normalization>{{
    {Normalization::kPerHead, "per-head"},
    {Normalization::kPooled, "pooled"},
    {Normalization::kPublished, "published"},
}};

/// A random walk on a feedforward graph (theory: "Random walk matrix", there transposed). Row j
/// holds the probabilities of a step from j: step(j, i), zero for i < j, rows sum to one, the sink
/// stays.
struct Walk {
  Matrix step;
  /// leave[j] = sum over i > j of step(j, i): the forward mass, never computed as 1 - step(j, j),
  /// so that a walk that almost always stays is still known to full relative precision.
  std::vector<double> leave;

  int nodes() const { return step.rows(); }
  int sink() const { return step.rows() - 1; }
};

/// The walk of a graph: from j along its outgoing edges in proportion to their weights (1 /
/// outdegree for a 0/1 graph). A node without outgoing edges stays where it is.
Walk walk_of_graph(const FeedforwardGraph& graph);

/// The walk of an attention matrix: the step j -> i in proportion to A[i][j] (column j of A,
/// divided by its sum). A token that nobody attends to, itself included, stays where it is.
Walk walk_of_attention(ConstMatrixView attention);

/// The walk the published tables were computed with: a step from j draws u in [0, 1) and takes the
/// first i whose running sum of A[.][j] reaches u, or the sink if none does.
Walk published_walk(ConstMatrixView attention);

/// The same two from attention whose columns are at hand.
Walk walk_of_columns(const MirroredMatrix& attention);
Walk published_walk_of_columns(const MirroredMatrix& attention);

/// The same as published_walk_of_columns() in units of `whole`, which all rows of the attention sum
/// to, and in memory that is there; rest[j] is what row j gives to tokens before j. Rows of `into`
/// sum to `whole`; below the diagonal and in the sink's row it is anything.
void cut_walk(ConstMatrixView columns, const double* rest, double whole, Walk& into);

/// The walk with the given rows: non-negative, upper triangular, rows summing to one within 1e-9
/// (then divided by their sums). InputError names the row otherwise. What the last row holds beside
/// its diagonal is an error too: the sink is absorbing.
Walk walk_of_rows(ConstMatrixView rows);

/// The convex sum of walks that come one at a time, sum_h w_h P_h (theory: "Multi-head walk"): see
/// ConvexSum. Copies of one walk give that walk.
class WalkSum {
 public:
  explicit WalkSum(int nodes);
  void add(const Walk& walk, double weight) { add(walk.step, walk.leave.data(), weight); }
  void add(ConstMatrixView step, const double* leave, double weight);
  /// The sum; nothing can be added afterwards.
  Walk take();

 private:
  ConvexSum step_;
  ConvexSum leave_;
};

/// The same in one call: walk(h) is the h-th and valid until the next call.
template <class WalkOf>
Walk combine_walks(int nodes, std::span<const double> weights, WalkOf walk) {
  WalkSum sum(nodes);
  for (std::size_t h = 0; h < weights.size(); ++h) sum.add(walk(static_cast<int>(h)), weights[h]);
  return sum.take();
}

/// reaches[j]: can a walk from j arrive at the sink?
std::vector<bool> reaches_sink(const Walk& walk);

}  // namespace synergraph
#pragma GCC visibility pop
