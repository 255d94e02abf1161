#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

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
#pragma GCC visibility pop
