#pragma once

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)
namespace synergraph {

/// The moments of independent numbers.
struct SampleMoments {
  std::size_t count = 0;
  double mean = 0.0;
  double std = 0.0;  ///< with count - 1; NaN for fewer than two numbers
};

/// The moments of these numbers; NaN without any.
SampleMoments moments_of(std::span<const double> numbers);

/// The difference of two means, b - a, with Student's t interval and the two-sided p-value of t. No
/// test is possible with fewer than two numbers, or where the numbers do not vary and differ: then
/// low, high and p are NaN. Numbers that are equal up to rounding (1e-12) differ by nothing: p = 1.
struct MeanDifference {
  double a = 0.0;  ///< mean
  double b = 0.0;
  double difference = 0.0;
  double low = 0.0;
  double high = 0.0;
  double p = 0.0;
  std::size_t count_a = 0;
  std::size_t count_b = 0;  ///< the same where numbers are paired
};

/// Of pairs: a[k] belongs to b[k], and both have the same length. The interval is that of the mean
/// of b[k] - a[k].
MeanDifference paired_difference(std::span<const double> a, std::span<const double> b,
                                 double level = 0.95);

/// Of independent samples: Welch's t, whose standard deviations need not be equal.
MeanDifference unpaired_difference(const SampleMoments& a, const SampleMoments& b,
                                   double level = 0.95);

}  // namespace synergraph
#pragma GCC visibility pop
