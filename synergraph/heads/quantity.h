#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "synergraph/heads/quantity_rows.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A measured number that is summarised over samples: its row, and the eps of a mixing time.
/// Ordered as files have them.
struct Quantity {
  /// Rows that code names; others are reached by lists.
  enum Kind {
    kForwardProbability = quantity_row("forward_probability"),
    kTruncatedHittingMean = quantity_row("truncated_hitting_mean"),
    kTruncatedHittingMax = quantity_row("truncated_hitting_max"),
    kHittingMean = quantity_row("hitting_mean"),
    kHittingMax = quantity_row("hitting_max"),
    kMixingTime = quantity_row("mixing_time_EPS"),
    kMinimaxFidelity = quantity_row("minimax_fidelity"),
    kMinimaxFidelityUpper = quantity_row("minimax_fidelity_upper"),
    kMinimaxTime = quantity_row("minimax_time"),
    kBestHeadFidelity = quantity_row("best_head_fidelity"),
    kSynergy = quantity_row("synergy"),
    kMixingSynergy = quantity_row("mixing_synergy"),
    kCrossHeadShare = quantity_row("cross_head_share"),
    kEffectiveForwardProbability = quantity_row("effective_forward_probability"),
  };

  Kind kind;
  double eps = 0.0;  ///< of mixing times

  constexpr Quantity(Kind its_kind) : kind(its_kind) {}  // a kind is its quantity, but for eps
  static constexpr Quantity mixing_time(double eps) {
    Quantity quantity(kMixingTime);
    quantity.eps = eps;
    return quantity;
  }

  constexpr const QuantityRow& row() const { return kQuantityRows[kind]; }
  /// Whether it belongs to one system, and not to a layer's heads.
  constexpr bool of_system() const { return row().owner == Owner::kSystem; }
  /// Whether it counts steps, which may be infinitely many: never.
  constexpr bool is_time() const { return row().unit == Unit::kSteps; }
  /// Whether it lies between 0 and 1. What does not is at least 0, and may be infinite.
  constexpr bool is_share() const { return row().unit == Unit::kShare; }
  bool operator==(const Quantity&) const = default;
  bool operator<(const Quantity& other) const {
    return std::tie(kind, eps) < std::tie(other.kind, other.eps);
  }
};

/// The key without its eps, for a list of values by eps: "mixing_time".
std::string key_without_eps(const QuantityRow& row);
/// As files spell it: "minimax_fidelity", "mixing_time_0.25".
std::string key_of(const Quantity& quantity);
std::optional<Quantity> parse_quantity(std::string_view key);
/// Of its column: "hit mean", "T_mix(0.25)", "hit cut 100".
std::string heading_of(const Quantity& quantity, std::int64_t cutoff);

/// The quantities of one system, in their order, mixing times for every eps; `backward` as in
/// MetricsOptions.
std::vector<Quantity> system_quantities(const std::vector<double>& eps, bool backward = false);
/// All quantities of a layer: those of all heads together among them.
std::vector<Quantity> layer_quantities(const std::vector<double>& eps, bool backward = false);
/// The quantity that is the upper end of this one where fidelities are not certified.
std::optional<Quantity> upper_end(const Quantity& quantity);
/// Those of a layer's heads compared with each other; of walks, where each head's was measured.
std::vector<Quantity> comparing_quantities(bool head_walks);

/// The value for one system, or for a layer, that was measured with these eps. NaN: not measured.
double value_of(const Quantity& quantity, const Metrics& metrics, const std::vector<double>& eps);
double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps);

}  // namespace synergraph
#pragma GCC visibility pop
