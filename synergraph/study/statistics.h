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
/// high are NaN.
Interval mean_interval(const std::vector<double>& values, double level = 0.95);

/// Standard deviation with n - 1; NaN for one value.
double sample_std(const std::vector<double>& values);

/// A share, with Wilson's score interval.
Interval share_interval(std::int64_t successes, std::int64_t trials, double level = 0.95);

/// The p-quantile of Student's t distribution.
double student_quantile(double p, double degrees);
/// The p-quantile of the standard normal distribution.
double normal_quantile(double p);

/// How a p-value was found.
enum class PValueMethod { kExact, kPermutation };

/// A test's result.
struct TestResult {
  double statistic = 0.0;
  double effect = 0.0;   ///< in [-1, 1]; see the test
  double p_value = 1.0;  ///< NaN when the data allow no test
  PValueMethod method = PValueMethod::kExact;
  double smallest_p = 0.0;  ///< the smallest p-value that data of this shape can give
};

struct TestOptions {
  std::uint64_t seed = 1;             ///< of random permutations
  std::int64_t exact_limit = 200000;  ///< arrangements up to which the p-value is exact
  int permutations = 100000;          ///< otherwise
};

/// Jonckheere-Terpstra: do values rise along the ordered groups? One-sided: a small p-value says
/// yes. The statistic counts pairs from different groups that are in order, ties half; the effect
/// is Somers' d, (ordered - reversed) / all such pairs. Exact by enumeration of all distinct
/// assignments, ties included, or by random permutations (p = (1 + hits) / (1 + permutations)).
TestResult jonckheere_terpstra(const std::vector<std::vector<double>>& groups,
                               const TestOptions& options = {});

/// Spearman's rank correlation, average ranks for ties, with a two-sided p-value; the effect and
/// the statistic are rho, NaN where one side does not vary.
TestResult spearman(const std::vector<double>& x, const std::vector<double>& y,
                    const TestOptions& options = {});

/// Ranks from 1, ties averaged. Infinite values are ranked last.
std::vector<double> ranks(const std::vector<double>& values);

/// Spearman's rho alone; NaN where one side does not vary.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// P-values adjusted for their number by Holm's step-down procedure, in the given order. NaNs are
/// not counted and stay.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace synergraph
