#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A measured number: its kind, and the eps of a T_mix. Ordered as files have them.
struct Quantity {
  enum Kind {
    // Of one system, a head or all heads together: of its walk
    kForwardProbability,
    kTruncatedHittingMean,  ///< the paper's mixing time
    kTruncatedHittingMax,
    kHittingMean,
    kHittingMax,
    kMixingTime,
    // and of its diffusion
    kMinimaxFidelity,
    kMinimaxFidelityUpper,
    kMinimaxTime,
    // Of all heads of a layer and how they compare
    kBestHeadFidelity,
    kSynergy,
    kMixingSynergy,
    kCrossHeadShare,
    kEffectiveForwardProbability,
  };

  Kind kind;
  double eps = 0.0;  ///< of T_mix

  constexpr Quantity(Kind its_kind) : kind(its_kind) {}  // a kind is its quantity, but T_mix
  static constexpr Quantity mixing_time(double eps) {
    Quantity quantity(kMixingTime);
    quantity.eps = eps;
    return quantity;
  }

  /// Whether it belongs to one system, and not to a layer's heads.
  constexpr bool of_system() const { return kind < kBestHeadFidelity; }
  /// Whether it counts steps, which may be infinitely many: never.
  bool is_time() const;
  /// Whether it lies between 0 and 1. What does not is at least 0, and may be infinite.
  bool is_share() const;
  bool operator==(const Quantity&) const = default;
  bool operator<(const Quantity& other) const {
    return std::tie(kind, eps) < std::tie(other.kind, other.eps);
  }
};

/// As files spell it: "minimax_fidelity", "mixing_time_0.25".
std::string key_of(const Quantity& quantity);
std::optional<Quantity> parse_quantity(std::string_view key);

/// The quantities of one system, in their order, T_mix for every eps.
std::vector<Quantity> system_quantities(const std::vector<double>& eps);
/// All quantities of a layer: those of all heads together among them.
std::vector<Quantity> layer_quantities(const std::vector<double>& eps);

/// The value for one system, or for a layer, that was measured with these eps. NaN: not measured.
double value_of(const Quantity& quantity, const Metrics& metrics, const std::vector<double>& eps);
double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps);

}  // namespace synergraph
#pragma GCC visibility pop
