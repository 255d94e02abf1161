#pragma once

#include <cstdint>
#include <vector>

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

/// A share, with Wilson's score interval. Without trials: NaN in [0, 1].
Interval share_interval(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// The p-quantile of Student's t distribution with `degrees` > 0 degrees of freedom, which may be
/// infinite; relative error below 1e-12. NaN unless 0 <= p <= 1.
double student_quantile(double p, double degrees);
/// The p-quantile of the standard normal distribution; likewise.
double normal_quantile(double p);

/// How a p-value was found.
enum class PValueMethod { kExact, kPermutation };

/// A test's result. Where the data allow no test (a value is NaN, nothing to compare), all but the
/// method is NaN.
struct TestResult {
  double statistic = 0.0;
  double effect = 0.0;  ///< in [-1, 1]; see the test
  double p_value = 1.0;
  PValueMethod method = PValueMethod::kExact;
  /// The smallest p-value that so many values, all different, can give by this method.
  double smallest_p = 0.0;
};

struct TestOptions {
  std::uint64_t seed = 1;  ///< of random permutations
  /// Elementary steps of counting up to which the p-value is exact; the default takes well under a
  /// second, enough for four groups of ten and for ten pairs.
  std::int64_t exact_limit = 100'000'000;
  int permutations = 100'000;  ///< otherwise; p = (1 + hits) / (1 + permutations)
};

/// Jonckheere-Terpstra: do values rise along the ordered groups? One-sided: a small p-value says
/// yes. The statistic counts pairs from different groups that are in order, ties half; the effect
/// is Somers' d, (ordered - reversed) / all such pairs. The exact p-value is the share of all
/// distinct assignments of the pooled values to the groups whose statistic is no smaller, ties
/// included; they are counted, not visited one by one.
TestResult jonckheere_terpstra(const std::vector<std::vector<double>>& groups,
                               const TestOptions& options = {});

/// Spearman's rank correlation, average ranks for ties, with a two-sided p-value: the share of all
/// distinct pairings whose correlation is no closer to 0. Effect and statistic are rho; no test
/// where one side does not vary.
TestResult spearman(const std::vector<double>& x, const std::vector<double>& y,
                    const TestOptions& options = {});

/// Ranks from 1, ties averaged. Infinite values are ranked last, NaN gets the rank NaN.
std::vector<double> ranks(const std::vector<double>& values);

/// Spearman's rho alone; NaN where one side does not vary or a value is NaN.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// P-values adjusted for their number by Holm's step-down procedure, in the given order. NaNs are
/// not counted and stay.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace synergraph
