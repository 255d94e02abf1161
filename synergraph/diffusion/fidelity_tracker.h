#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "synergraph/core/propagation.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/diffusion/slow_signal.h"

namespace synergraph {

/// Follows the signal at the sink through time under one set of options and keeps each node's
/// maximum; see fidelity().
class FidelityTracker {
 public:
  /// All arguments must outlive this object. `slow` is made at its first use and shared by trackers
  /// of one diffusion.
  FidelityTracker(ConstMatrixView diffusion, const Propagation& states,
                  const FidelityOptions& options, const Execution& execution,
                  std::unique_ptr<SlowSignal>& slow);

  /// Processes the newest panel of the signal.
  void look();
  /// Returns true if no more signal is needed. The findings do not change afterwards.
  bool done() const { return done_; }
  /// Computes, once done() is true, the results that the signal did not give.
  void finish();
  /// Returns the first node that no longer changes the result; no later node does either.
  int active() const { return active_; }
  /// Returns the number of steps that are certainly needed.
  std::int64_t steps_left() const;

  /// Returns the smallest fidelity of any node so far.
  double least() const;

  Fidelity take() { return std::move(result_); }

 private:
  bool fixed() const { return options_.horizon > 0; }
  bool limited() const { return options_.step_limit < std::numeric_limits<std::int64_t>::max(); }
  int nodes() const { return diffusion_.rows; }
  double& phi(int j) { return result_.node[static_cast<std::size_t>(j)]; }
  bool known(int j) const { return !std::isnan(supremum_[static_cast<std::size_t>(j)]); }
  bool is_final(int j) const {
    return known(j) || (!final_.empty() && final_[static_cast<std::size_t>(j)]);
  }
  void set_final(int j);
  /// Returns a lower bound of node j's fidelity.
  double lower(int j) const {
    const auto at = static_cast<std::size_t>(j);
    return known(j) ? supremum_[at] : result_.node[at];
  }
  std::int64_t most_steps() const;

  void look_at(int j, double value, double time, double rounding);
  void look_at_panel(std::int64_t limit);
  bool all_final() const;
  void drop_dead_nodes();
  int smallest() const;
  bool certify(int j);
  bool certify_minimax();
  bool certify_every();
  void search_slowly();
  bool peak_slowly(int j, double enough);
  void close_bounds();
  double bound_minimax();
  /// Returns node j's signal at the newest time that counts.
  double signal(int j) const { return states_.at(j, states_.length() - beyond_); }

  const FidelityOptions& options_;
  const Execution& execution_;
  ConstMatrixView diffusion_;
  const Propagation& states_;
  std::unique_ptr<SlowSignal>& slow_;
  Fidelity result_;
  bool done_ = false;
  bool settled_ = false;  // certified: the minimax, or every node if that is asked for
  int beyond_ = 0;        // steps of the newest panel beyond the step limit
  int active_;
  std::vector<double> timed_;     // the signal at each node's optimal time
  std::vector<bool> final_;       // nodes with certified fidelity; empty: none
  std::vector<int> chosen_;       // nodes that count for the minimax, rising
  std::vector<double> supremum_;  // suprema of nodes that keep what they get; NaN: not known
  std::int64_t next_look_ = 0;    // time of the next expensive check of every node
  // The sharper bound of node passed_to_: the probability, from every node, of ever being passed on
  // to passed_to_.
  int passed_to_ = -1;
  std::vector<double> passing_;
};

}  // namespace synergraph
