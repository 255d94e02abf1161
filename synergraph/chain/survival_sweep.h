#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/propagation.h"

namespace synergraph {

/// One pass through time over the survival vector, shared by everything that needs it. The sink is
/// left out: its survival is zero.
class SurvivalSweep {
 public:
  /// The walk must outlive this object. Survivals begin at `start`, and all are times that.
  explicit SurvivalSweep(const Walk& walk, double start = 1.0);

  /// The next panel of states; see Propagation::advance.
  void advance(std::int64_t steps) { states_.advance(steps); }
  void advance() { states_.advance(); }
  const Propagation& states() const { return states_; }

  /// max_j s_t[j] for t = states().time() - states().length() + k.
  double worst(int k) const;

  /// max_j of the newest state.
  double worst_current() const;

  /// Nodes before this one are never left, so no other node steps to them either: their survival
  /// is one for ever. Under the published rule node 0 is such a node.
  int first_moving() const { return first_moving_; }

  const Walk& walk() const { return walk_; }

  /// See Propagation::flush_tiny().
  void flush_tiny() { states_.flush_tiny(); }

  /// Takes nodes from `count` on as died out.
  void restrict_to(int count) { states_.restrict_to(count); }

 private:
  const Walk& walk_;
  int first_moving_ = 0;
  ScratchVector<double> start_;
  Propagation states_;
};

/// Adds up E[min(T_j, cutoff)] along a sweep, in as few steps as fix it to rounding; by squaring
/// where that takes less than the steps.
class TruncatedSum {
 public:
  /// The execution is for squarings and must outlive this object.
  TruncatedSum(int nodes, std::int64_t cutoff, const Execution& execution);

  /// Adds the sweep's newest panel, up to the cutoff, and the rest if the panel tells it or steps
  /// are no longer worth it.
  void add(const SurvivalSweep& sweep);

  /// Is the sum final?
  bool complete() const { return complete_; }

  /// Nodes from here on have died out: what they still add to any sum is lost in its rounding.
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
