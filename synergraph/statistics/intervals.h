#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// An interval that covers the truth with a given probability, around an estimate.
struct Interval {
  double estimate = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Mean of independent values with Student's t interval. With one value there is no spread: low and
/// high are NaN, as they are where a value is infinite. All is NaN without values.
Interval mean_interval(const std::vector<double>& values, double level = 0.95);

/// The mean of many samples with its normal interval; `std` is that of the samples at hand
/// (population), hence n - 1.
Interval sample_interval(double mean, double std, std::size_t samples, double level = 0.95);

/// Standard deviation with n - 1; NaN for less than two values and where one is infinite.
double sample_std(const std::vector<double>& values);

/// How many of how many.
struct Share {
  std::int64_t successes = 0;
  std::int64_t trials = 0;

  /// NaN without trials.
  double value() const;
  Share& operator+=(const Share& other);
};

/// A share with Wilson's score interval. Without trials: NaN in [0, 1].
Interval share_interval(const Share& share, double level = 0.95);

/// The p-quantile of Student's t distribution with `degrees` > 0 degrees of freedom, which may be
/// infinite; relative error below 1e-12. NaN unless 0 <= p <= 1.
double student_quantile(double p, double degrees);
/// The p-quantile of the standard normal distribution; likewise.
double normal_quantile(double p);

}  // namespace synergraph
#pragma GCC visibility pop
