#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/propagation.h"

namespace synergraph {

/// One pass through time over the survival vector, shared by all metrics that need survivals. The
/// sweep omits the sink, whose survival is zero.
class SurvivalSweep {
 public:
  /// The walk must outlive this object. Survivals begin at `start` instead of 1, so `start` scales
  /// all survivals.
  explicit SurvivalSweep(const Walk& walk, double start = 1.0);

  /// Computes the next panel of states; see Propagation::advance.
  void advance(std::int64_t steps) { states_.advance(steps); }
  void advance() { states_.advance(); }
  const Propagation& states() const { return states_; }

  /// Returns max_j s_t[j] for t = states().time() - states().length() + k.
  double worst(int k) const;

  /// Returns the maximum over j of the newest state.
  double worst_current() const;

  /// The same for the mean over all nodes, the sink included.
  double mean(int k) const;
  double mean_current() const { return mean(states_.length()); }

  /// Returns the first node that the walk can leave. No node steps to the nodes before, so their
  /// survival is always one. Under the published rule, node 0 is such a node.
  int first_moving() const { return first_moving_; }

  const Walk& walk() const { return walk_; }

  /// See Propagation::flush_tiny().
  void flush_tiny() { states_.flush_tiny(); }

  /// Treats nodes from `count` on as died out.
  void restrict_to(int count) { states_.restrict_to(count); }

 private:
  const Walk& walk_;
  int first_moving_ = 0;
  ScratchVector<double> start_;
  Propagation states_;
};

/// Sums E[min(T_j, cutoff)] along a sweep, with as few steps as fix the sum to rounding.
/// TruncatedSum squares instead of stepping where squaring takes less time.
class TruncatedSum {
 public:
  /// The execution serves the squarings and must outlive this object.
  TruncatedSum(int nodes, std::int64_t cutoff, const Execution& execution);

  /// Adds the sweep's newest panel, up to the cutoff. add() also adds the rest if the panel
  /// determines the rest, or if further steps cost too much.
  void add(const SurvivalSweep& sweep);

  /// Returns true if the sum is final.
  bool complete() const { return complete_; }

  /// Returns the first node that has died out. Later contributions of the nodes from there on
  /// vanish in the rounding of any sum.
  int active(const SurvivalSweep& sweep) const;

  std::vector<double> take() { return std::move(sum_); }

 private:
  void add_panel(const Propagation& states);
  bool add_rest(const SurvivalSweep& sweep);
  void add_powers(const SurvivalSweep& sweep, int active, double factor);
  void add_solution(const SurvivalSweep& sweep, int active, double kept);

  std::int64_t cutoff_;
  std::int64_t patience_;  // steps after which squaring takes over
  const Execution& execution_;
  std::vector<double> sum_;
  bool complete_;
};

}  // namespace synergraph
