#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/device/large/operators.h"
#include "synergraph/heads/synergy.h"

namespace synergraph::large {

/// T_mix, hitting times and truncated times of one operator's walk, panel by panel, by the rules of
/// chain/mixing_rules.h and chain/truncation_rules.h. Nodes count with the one for missing mass.
class WalkSearch {
 public:
  /// The sums must outlive this object. eps are in (0, 1/2].
  WalkSearch(const OperatorSums& sums, const std::vector<double>& eps, std::int64_t cutoff);

  void take_hitting(const double* times);
  void take_panel(const SurvivalPanel& panel);
  /// T_mix for every one of open_eps(), from powers.
  void take_mixing(const std::vector<double>& times);

  /// Panels do not come to an end: for the CPU.
  bool failed() const { return failed_; }
  bool wants_panel() const;
  /// The eps whose times panels did not find.
  std::vector<double> open_eps() const;
  /// Survivals of the next panel that enter the truncated sum.
  int count() const;
  /// T_mix of one of the eps.
  double mixing(double eps) const;
  void write(Metrics& metrics, const WalkOptions& options) const;

 private:
  int extra() const { return sums_.missing.empty() ? 0 : 1; }
  int nodes() const { return static_cast<int>(sums_.column.size()) + extra(); }
  std::int64_t most_steps() const;
  bool is_open() const;
  bool add_rest(const SurvivalPanel& panel);
  void never_arrives(int worst_node);
  void take_trapped(const double* trapped);
  void step_missing(const SurvivalPanel& panel, double (&states)[kSteps + 1]);

  const OperatorSums& sums_;
  std::vector<double> eps_;
  std::int64_t cutoff_;
  std::int64_t time_ = 0;
  HittingTimes hitting_;
  std::vector<double> mixing_;
  std::vector<double> truncated_;
  int stuck_ = 0;                // first nodes that are never left
  double missing_now_ = 1.0;     // survival of the node for missing mass, the newest
  double missing_before_ = 1.0;  // and the one before
  bool summed_;
  bool slow_ = false;  // times are for powers
  bool failed_ = false;
};

}  // namespace synergraph::large
