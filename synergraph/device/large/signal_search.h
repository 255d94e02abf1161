#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/device/large/operators.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/diffusion/slow_signal.h"

namespace synergraph::large {

/// Minimax fidelity of one operator's signal, panel by panel, by the rules of
/// diffusion/peak_rules.h: see FidelityTracker. Nodes count with the one for missing mass.
class SignalSearch {
 public:
  /// The sums must outlive this object.
  SignalSearch(const OperatorSums& sums, const FidelityOptions& options);

  void take_panel(const SignalPanel& panel);
  /// Passing probabilities of weakest(), of the operator's nodes.
  void take_passing(const std::vector<double>& passing);
  /// Certifies by powers what panels did not.
  void search_slowly(SlowSignal& slow);

  /// The minimax is neither found nor will be: for the CPU.
  bool failed() const { return failed_; }
  bool wants_passing() const { return !failed_ && !done_ && !slow_ && !asked_; }
  bool wants_panel() const { return !failed_ && !done_ && !slow_ && asked_; }
  bool wants_powers() const { return !failed_ && !done_ && slow_; }
  /// The node that attains the minimax so far, as the operator counts its nodes.
  int weakest_of_operator() const { return weakest() - extra(); }
  /// The last step of the next panel that counts; kSteps: all.
  int last() const;

  void write(Fidelity& fidelity) const;

 private:
  bool fixed() const { return horizon_ > 0; }
  int extra() const { return sums_.missing.empty() ? 0 : 1; }
  int weakest() const;
  bool is_known(int j) const { return j == 0 && !fixed(); }
  void look_at(int j, double value, double time, double rounding);
  void step_missing(const SignalPanel& panel);
  bool is_final(int j) const;
  void decide();

  const OperatorSums& sums_;
  int nodes_;
  std::int64_t horizon_;
  std::vector<int> chosen_;
  std::vector<double> phi_;
  std::vector<double> timed_;  // the signal at each node's optimal time
  std::vector<double> at_;     // optimal times
  std::vector<double> now_;    // the newest state
  std::vector<double> passing_;
  int passed_to_ = -1;
  bool asked_ = true;  // passing probabilities are at hand, or nothing has been seen yet
  bool slow_ = false;
  bool failed_;
  bool done_ = false;
  std::int64_t time_ = 0;
  double latest_ = 0.0;  // time that powers reached
};

}  // namespace synergraph::large
