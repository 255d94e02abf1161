#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/kernels/sparse_shape.h"

namespace synergraph {

/// x_{t+1} = U x_t for a sparse upper triangular matrix U, many steps at a time:
/// U(j, i) = gain[j] weight(e) scale[i] for an edge e from j to i > j, and U(j, j) = stay[j].
///
/// Threads work on consecutive panels of steps at the same time. A thread follows the thread of the
/// panel before at a distance of one block of nodes, so that each node is finished for one panel
/// after the other. Every number is a sum in an order that the graph alone determines.
class SparsePropagation {
 public:
  /// The compressed rows of U beside the diagonal. They must outlive this object, as must the
  /// factors.
  struct Operator {
    const std::vector<std::int64_t>& first;
    const ScratchVector<std::int32_t>& target;
    const ScratchVector<double>& weight;  ///< empty: all ones
    std::vector<double> stay;
    std::vector<double> gain = {};   ///< empty: all ones
    std::vector<double> scale = {};  ///< empty: all ones
  };

  /// Starts at x_0 = `start`.
  SparsePropagation(Operator op, std::vector<double> start, const Execution& execution);

  /// What every node's states are collected in, where not empty.
  struct Collected {
    std::vector<double> peak;       ///< largest state of each node so far
    std::vector<double> peak_time;  ///< first step of that state
    std::vector<double> sum;        ///< sum of the states of steps before `sum_end`
    std::int64_t sum_end = 0;
  };

  /// Computes the states of the next steps, at least one panel and about as many steps as were
  /// computed before, up to `most`. How many depends on time() and `most` alone. Calls
  /// each(t, total, worst) for every such step t in order: the sum of the states, and the largest.
  /// Throws Stopped after a stop request.
  void advance(std::int64_t most, Collected& collected,
               const std::function<void(std::int64_t t, double total, double worst)>& each);

  /// Returns the number of finished steps: now() is x_{time()}.
  std::int64_t time() const { return time_; }
  const std::vector<double>& now() const { return now_; }
  int nodes() const { return static_cast<int>(now_.size()); }

 private:
  /// Reads one panel of all nodes on behalf of advance().
  struct Panel;

  Operator op_;
  std::vector<double> now_;
  const Execution& execution_;
  std::vector<int> blocks_;  // first nodes of the blocks, then the number of nodes
  std::vector<ScratchVector<double>> states_;  // of each thread
  std::int64_t time_ = 0;
};

/// The states of one node from those of later nodes; returns the largest. See NodeSteps.
double advance_node(const NodeSteps& node);

}  // namespace synergraph
