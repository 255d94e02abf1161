#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// How a test computed its p-value.
enum class PValueMethod { kExact, kPermutation };

/// The result of a test. Where the data allow no test (a value is NaN, or there is nothing to
/// compare), every field except the method is NaN.
struct TestResult {
  double statistic = 0.0;
  double effect = 0.0;  ///< effect size in [-1, 1]; each test defines the effect
  double p_value = 1.0;
  PValueMethod method = PValueMethod::kExact;
  /// The smallest p-value that this method can give for this number of values, if all values
  /// differ.
  double smallest_p = 0.0;
};

struct TestOptions {
  std::uint64_t seed = 1;  ///< seed of random permutations
  /// Number of elementary counting steps up to which the p-value is exact. The default takes well
  /// under a second and covers four groups of ten, and ten pairs.
  std::int64_t exact_limit = 100'000'000;
  int permutations = 100'000;  ///< used beyond exact_limit; p = (1 + hits) / (1 + permutations)
};

/// Jonckheere-Terpstra test: do values rise along the ordered groups? The test is one-sided; a
/// small p-value means that values rise.
///
/// The statistic counts ordered pairs from different groups; a tie counts half. The effect is
/// Somers' d, (ordered - reversed) / all such pairs.
///
/// The exact p-value is the share of distinct assignments of the pooled values to the groups whose
/// statistic is at least as large, ties included. The test counts the assignments without visiting
/// each assignment.
TestResult jonckheere_terpstra(const std::vector<std::vector<double>>& groups,
                               const TestOptions& options = {});

/// Spearman's rank correlation, with average ranks for ties and a two-sided p-value. The p-value is
/// the share of all distinct pairings whose correlation is at least as far from 0. Effect and
/// statistic are rho. No test is possible where one side does not vary.
TestResult spearman(const std::vector<double>& x, const std::vector<double>& y,
                    const TestOptions& options = {});

/// Spearman's rank correlation within groups: every value is ranked among those of its group, and
/// the ranks of all groups, centred, are correlated together. The p-value is that of random
/// permutations within the groups (of all orders where there is one group, as spearman()). Groups
/// in which one side does not vary or a value is NaN are left out.
TestResult spearman_within(const std::vector<std::vector<double>>& x,
                           const std::vector<std::vector<double>>& y,
                           const TestOptions& options = {});

/// Ranks from 1, with average ranks for ties. Infinite values rank last; NaN gets the rank NaN.
std::vector<double> ranks(const std::vector<double>& values);

/// Spearman's rho without a test; NaN where one side does not vary or a value is NaN.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// Adjusts p-values for their number by Holm's step-down procedure, and returns them in the given
/// order. NaN values are not counted and stay NaN.
std::vector<double> holm(const std::vector<double>& p_values);

}  // namespace synergraph
#pragma GCC visibility pop
