#pragma once

#include <algorithm>
#include <cstdint>

namespace synergraph {

/// The rules that decide a fidelity, said once for every engine that follows signals: on the CPU,
/// and on devices, which take constexpr functions as their own.
namespace peak_rules {

/// Values and bounds are equal if they are equal to this, relatively: each is a sum of up to n
/// non-negative products.
inline constexpr double kRounding = 1e-14;
/// Steps before the first look at whether a minimax is final.
inline constexpr int kFirstSteps = 8;

/// Whether a signal is above the peak by more than rounding. Two maxima that differ by rounding are
/// a tie, and the first of them gives the optimal time.
constexpr bool is_above(double value, double peak, double rounding = kRounding) {
  return value > peak * (1.0 + rounding);
}

/// Whether a peak is final: no later signal exceeds `bound`.
constexpr bool is_final(double bound, double peak) {
  return !(bound > peak * (1.0 + kRounding));
}

/// Whether a node's fidelity counts as the smallest of all, `least`.
constexpr bool is_smallest(double fidelity, double least) {
  return !is_above(fidelity, least);
}

/// How far to step before the powers take over: about as long as those would take. Rounding grows
/// with the steps, too.
constexpr std::int64_t steps_before_powers(int nodes) {
  return std::max<std::int64_t>(2000, std::int64_t{4} * nodes);
}

}  // namespace peak_rules
}  // namespace synergraph
