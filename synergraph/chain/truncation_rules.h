#pragma once

#include <cstdint>

namespace synergraph {

/// The rules that decide what is left of a truncated sum, said once for every engine that adds
/// survivals: on the CPU, and on devices, which take constexpr functions as their own.
namespace truncation_rules {

/// Whether what a node survives by is lost in the rounding of a sum, in each of `left` steps. s_t
/// never grows and every sum is at least s_0 = 1, so a rest below 2^-54 cannot change it.
constexpr bool is_lost(double survival, double left) {
  return left * survival < 0x1.0p-54;
}

/// How survivals shrank in the last step, over the moving nodes that still matter.
struct Shrinking {
  double low = 1.0;    ///< smallest s_T / s_(T-1)
  double high = 0.0;   ///< largest
  double share = 0.0;  ///< the largest part that s_T is of a node's sum

  constexpr void look_at(double now, double before, double sum) {
    const double ratio = now / before;
    const double part = now / sum;
    low = ratio < low ? ratio : low;
    high = ratio > high ? ratio : high;
    share = part > share ? part : share;
  }
};

// Closer than there a sum is known to rounding.
inline constexpr double kAccuracy = 0x1.0p-50;
// Ratios of survivals are rounded to this; of a walk that leaves less often they know nothing.
inline constexpr double kRatio = 0x1.0p-53;
inline constexpr double kRounding = 0x1.0p-45;

/// Whether the first powers of (low + high) / 2 give what is left of the sums. Where low s_{T-1} <=
/// s_T <= high s_{T-1} at all nodes, the same holds between any two later steps, since P has no
/// negative entry. The sum of the first powers of x <= 1 changes by at most left^2 / 2 times the
/// change of x.
constexpr bool powers_give_rest(const Shrinking& s, double left) {
  return s.share * (s.high - s.low) * left * left / 2.0 <= kAccuracy &&
         s.share * kRatio * left * left / 2.0 <= kRounding;
}

/// Whether a truncated sum is the whole sum, within rounding: `left` more steps reach the cutoff,
/// and all survivals from there on add up to at most s_T high^left / (1 - high). The bound needs
/// the ratios of all nodes, not only of those that still matter.
constexpr bool nothing_is_cut(const Shrinking& s, std::int64_t left) {
  const double high = s.high * (1.0 + 0x1.0p-40);  // ratios are rounded
  if (!(high < 1.0)) return false;
  double rest = s.share / (1.0 - high);
  for (double power = high; left > 0; left /= 2, power *= power)
    if (left % 2 == 1) rest *= power;
  return rest <= kAccuracy;
}

/// 1 + x + .. + x^(count - 1), from the highest bit of the count to the lowest.
constexpr double geometric_sum(double x, std::int64_t count) {
  double sum = 0.0;
  double power = 1.0;  // x^m of the sum of m terms
  int bit = 62;
  while (bit >= 0 && ((count >> bit) & 1) == 0) --bit;  // so far the sum is 0
  for (; bit >= 0; --bit) {
    sum += power * sum;
    power *= power;
    if (((count >> bit) & 1) == 0) continue;
    sum = 1.0 + x * sum;
    power *= x;
  }
  return sum;
}

}  // namespace truncation_rules
}  // namespace synergraph
