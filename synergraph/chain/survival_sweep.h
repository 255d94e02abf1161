#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/chain/walk.h"
#include "synergraph/core/propagation.h"

namespace synergraph {

/// One pass through time over the survival vector, shared by everything that needs it. The sink is
/// left out: its survival is zero.
class SurvivalSweep {
 public:
  /// The walk must outlive this object.
  explicit SurvivalSweep(const Walk& walk);

  /// The next panel of states; see Propagation::advance.
  void advance(std::int64_t steps = Propagation::kPanel) { states_.advance(steps); }
  const Propagation& states() const { return states_; }

  /// max_j s_t[j] for t = states().time() - states().length() + k.
  double worst(int k) const;

  /// max_j of the newest state.
  double worst_current() const;

  /// Is node j never left? Its survival is one for ever.
  bool stuck(int j) const { return walk_.leave[static_cast<std::size_t>(j)] == 0.0; }

  /// max_j of the newest state over the nodes that are not stuck.
  double worst_moving() const;

 private:
  const Walk& walk_;
  int sources_;
  ScratchVector<double> start_;
  Propagation states_;
};

/// Adds up E[min(T_j, cutoff)] along a sweep.
class TruncatedSum {
 public:
  TruncatedSum(int nodes, std::int64_t cutoff);

  /// Adds the sweep's newest panel, up to the cutoff.
  void add(const SurvivalSweep& sweep);

  /// Is the sum final: cutoff reached, or the rest of it below half a unit in the last place?
  bool complete(const SurvivalSweep& sweep) const;

  /// The sums of a complete sweep.
  std::vector<double> take(const SurvivalSweep& sweep);

 private:
  std::int64_t cutoff_;
  std::vector<double> sum_;
};

/// Mean, maximum and worst node of per-node times.
HittingTimes summarise_hitting(std::vector<double> times);

}  // namespace synergraph
