#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "synergraph/chain/bounds.h"
#include "synergraph/chain/mixing.h"
#include "synergraph/core/names.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/heads/head.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The two profiles of measurement (theory: "Two conventions").
enum class Convention { kExact, kPublished };

template <>
inline constexpr NameTable<Convention, 2> kNamesOf<Convention>{
    {{Convention::kExact, "exact"}, {Convention::kPublished, "published"}}};

/// What is measured, and how.
struct MetricsOptions {
  Normalization normalization = Normalization::kPooled;
  WalkOptions walk;          ///< eps of T_mix, cutoff of the truncated times
  FidelityOptions fidelity;  ///< nodes and horizon
  /// Walk metrics of every head, and with them the mixing synergy; fidelity is always measured.
  bool per_head_walks = true;
  /// The numbers of theory: "Averages and the way back".
  bool backward = false;
};

/// The options of a convention. exact: pooled walk, certified fidelity over the sources. published:
/// the published walk, fidelity over all nodes within 100 steps. Both: cutoff 100.
MetricsOptions convention_options(Convention convention);

/// The same for graphs, whose heads walk along their own edges: exact has the per-head walk.
MetricsOptions graph_options(Convention convention);

/// InputError unless the convention has an eps, its eps, cutoff, horizon and step limit are in
/// their ranges, and its enums have names.
void check_convention(const MetricsOptions& convention);

/// The same for conventions that are measured together, at least one: they must agree in
/// per_head_walks, in `backward` and in the first eps, which is that of the mixing synergy.
void check_conventions(const std::vector<MetricsOptions>& conventions);

/// Speed and fidelity of one head, or of all heads together. Lists of nodes may be left out.
struct Metrics {
  /// Of this walk itself; NaN where no walk was measured.
  double forward_probability = std::numeric_limits<double>::quiet_NaN();
  MixingBound bound;  ///< from it
  WalkSummary walk;
  Fidelity fidelity;
  // Measured with MetricsOptions::backward; see compare_with_bound()
  std::vector<double> backward_mixing = {};  ///< T_bwd for each eps, where walks were measured
  double backward_hitting_time = std::numeric_limits<double>::quiet_NaN();  ///< h_bwd
  double normalised_fidelity = std::numeric_limits<double>::quiet_NaN();
  double normalised_fidelity_upper = std::numeric_limits<double>::quiet_NaN();
  double fidelity_bound = std::numeric_limits<double>::quiet_NaN();
  double fidelity_tightness = std::numeric_limits<double>::quiet_NaN();
  double fidelity_tightness_upper = std::numeric_limits<double>::quiet_NaN();
};

/// Sets what follows from the minimax fidelity over `counted` of the nodes, and from h_bwd: F = n
/// phi_min, the bound h_bwd / counted, and how close phi_min comes to it (theory: "Bound by the way
/// back"). NaN for a single node.
void compare_with_bound(Metrics& metrics, int nodes, int counted);

/// The best head, and all heads together against it (theory: "Best head", "Synergy"). A fidelity
/// that is not certified is an interval, and so is what follows from it.
struct Synergy {
  int best_head = 0;  ///< argmax of the heads' minimax fidelity: of its lower ends, the first
  bool best_head_decided = true;    ///< no other head can be more faithful
  double best_head_fidelity = 0.0;  ///< its minimax fidelity, or the lower end
  double best_head_fidelity_upper = 0.0;
  /// Combined over best head; infinity or NaN where that is x/0 or 0/0. NaN also where it is only
  /// known to lie between `lower` and `upper`.
  double value = 0.0;
  double lower = 0.0;
  double upper = 0.0;

  /// Is it above 1? Nothing where the interval does not decide it.
  std::optional<bool> present() const;
};

/// The ends of a minimax fidelity, equal where it is certified or its horizon fixed.
struct FidelityRange {
  double lower = 0.0;
  double upper = 0.0;
};

Synergy compare_with_best(const std::vector<FidelityRange>& heads, const FidelityRange& combined);

/// All of it for a multi-head system under one convention.
struct HeadsMetrics {
  std::vector<Metrics> heads;
  Metrics combined;
  // Measured with the heads' walks
  /// sum_h w_h p_h, as the paper's theorem has it
  double effective_forward_probability = std::numeric_limits<double>::quiet_NaN();
  MixingBound effective_bound;  ///< the paper's bound, from it
  MixingBound adaptive;         ///< the best the weights could make of that bound
  /// min_h T_mix(h) / T_mix(combined), by the first eps and with the per-head normalisation
  /// whatever the convention (theory: "Mixing synergy"): above 1 where the heads together are
  /// faster than the fastest of them; NaN where none ever mixes.
  double mixing_synergy = std::numeric_limits<double>::quiet_NaN();

  Synergy synergy;
  double cross_head_share = 0.0;  ///< of the combined minimax signal, at its node and time
  /// Where weights follow from what heads move: w_h, the mean over rows; otherwise empty.
  std::vector<double> moved_shares = {};
};

/// a / b, also where both are infinite or zero: NaN. Ratios of fidelities and of times.
double ratio(double a, double b);

}  // namespace synergraph
#pragma GCC visibility pop
