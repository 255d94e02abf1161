#pragma once

#include <algorithm>
#include <cstdint>

namespace synergraph {

/// The rules that decide a mixing time, said once for every engine that follows survivals: on the
/// CPU, and on devices, which take constexpr functions as their own.
namespace mixing_rules {

/// Rounding allowance of the comparison with eps: see mixing.h.
inline constexpr double kTie = 1e-13;

/// What is followed through time to compare with a threshold.
enum Followed {
  kSurvival,  ///< max_j s_t[j]
  /// The same times 2^kLift, for thresholds so small that survivals near them are no normal numbers
  /// any more, and lose their digits.
  kLifted,
  /// min_j (1 - s_t[j]): near 1 the survival has no digits left to say how far it is from one.
  kArrival,
  kFollowed
};
inline constexpr int kLift = 900;
inline constexpr double kLifting = 0x1.0p900;  ///< 2^kLift
/// Below this eps, survivals are lifted.
inline constexpr double kLeastUnlifted = 0x1.0p-900;

constexpr Followed followed_for(double eps) {
  return eps > 0.5 ? kArrival : eps >= kLeastUnlifted ? kSurvival : kLifted;
}

/// What an eps asks of the walk.
struct Threshold {
  Followed of = kSurvival;
  double value = 0.0;

  Threshold() = default;
  constexpr explicit Threshold(double eps)
      : of(followed_for(eps)),
        value(of == kArrival    ? (1.0 - eps) * (1.0 - kTie)
              : of == kSurvival ? eps * (1.0 + kTie)
                                : eps * kLifting * (1.0 + kTie)) {}
  /// By the worst or the least of what it is of.
  constexpr bool met(double worst) const {
    return of == kArrival ? worst >= value : worst <= value;
  }
};

/// Bisection stops this many levels below the highest: 2^-44 relative, far below 1e-9. Times below
/// 1e6 have fewer than 44 levels and so come out exactly.
inline constexpr int kLevels = 44;

/// The largest number of single steps before squaring begins.
constexpr std::int64_t most_steps(int nodes) {
  return std::max<std::int64_t>(400, nodes / 8);
}

/// Whether single steps may reach a threshold. From the worst node h = E[T] is at most
/// T_mix(eps) / (1 - eps), as s_{k T_mix} <= eps^k: where that alone is too far for stepping to
/// pay, nothing is stepped.
constexpr bool stepping_pays(const Threshold& threshold, double worst_hitting, int nodes) {
  const double arrived = threshold.of == kArrival    ? threshold.value
                         : threshold.of == kSurvival ? 1.0 - threshold.value
                                                     : 1.0;
  return !(arrived * worst_hitting > static_cast<double>(most_steps(nodes)));
}

}  // namespace mixing_rules
}  // namespace synergraph
