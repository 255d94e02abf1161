#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// An estimate, and an interval that covers the true value with a given probability.
struct Interval {
  double estimate = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// The mean of independent values with Student's t interval. With one value, or where a value is
/// infinite, low and high are NaN. Without values, all three numbers are NaN.
Interval mean_interval(const std::vector<double>& values, double level = 0.95);

/// The mean of many samples with its normal interval. `std` is the population standard deviation of
/// the samples, hence the interval divides by n - 1.
Interval sample_interval(double mean, double std, std::size_t samples, double level = 0.95);

/// Standard deviation with n - 1; NaN for fewer than two values and where a value is infinite.
double sample_std(const std::vector<double>& values);

/// A count of successes in a number of trials.
struct Share {
  std::int64_t successes = 0;
  std::int64_t trials = 0;

  /// Returns successes / trials; NaN without trials.
  double value() const;
  Share& operator+=(const Share& other);
};

/// A share with Wilson's score interval. Without trials, the estimate is NaN and the interval is
/// [0, 1].
Interval share_interval(const Share& share, double level = 0.95);

/// The p-quantile of Student's t distribution with `degrees` > 0 degrees of freedom; `degrees` may
/// be infinite. The relative error is below 1e-12. The quantile is NaN unless 0 <= p <= 1.
double student_quantile(double p, double degrees);
/// The chance that the size of a number of Student's t distribution with `degrees` > 0 degrees of
/// freedom is at least |t|: the two-sided p-value of t. NaN if t or the degrees are.
double student_tails(double t, double degrees);
/// The p-quantile of the standard normal distribution, with relative error below 1e-12. The
/// quantile is NaN unless 0 <= p <= 1.
double normal_quantile(double p);

}  // namespace synergraph
#pragma GCC visibility pop
