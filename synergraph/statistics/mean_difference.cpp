#include "synergraph/statistics/mean_difference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "synergraph/core/special_values.h"
#include "synergraph/statistics/intervals.h"

namespace synergraph {
namespace {

/// Differences below this share of the means are those of rounding.
constexpr double kRounding = 1e-12;

/// Fills in interval and p by the standard error of the difference.
MeanDifference tested(MeanDifference of, double error, double degrees, double level) {
  const double rounding = kRounding * std::max(std::abs(of.a), std::abs(of.b));
  of.low = of.high = of.p = kNan;
  if (std::isnan(error)) return of;
  if (error <= rounding) {
    if (std::abs(of.difference) > rounding) return of;
    of.difference = of.low = of.high = 0.0;
    of.p = 1.0;
    return of;
  }
  const double half = student_quantile(0.5 + 0.5 * level, degrees) * error;
  of.low = of.difference - half;
  of.high = of.difference + half;
  of.p = student_tails(of.difference / error, degrees);
  return of;
}

}  // namespace

SampleMoments moments_of(std::span<const double> numbers) {
  SampleMoments moments{numbers.size(), kNan, kNan};
  if (numbers.empty()) return moments;
  const std::vector<double> values(numbers.begin(), numbers.end());
  moments.mean = mean_interval(values).estimate;
  moments.std = sample_std(values);
  return moments;
}

MeanDifference paired_difference(std::span<const double> a, std::span<const double> b,
                                 double level) {
  if (a.size() != b.size()) throw std::invalid_argument("pairs of different lengths");
  std::vector<double> differences;
  differences.reserve(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) differences.push_back(b[k] - a[k]);
  const SampleMoments all = moments_of(differences);
  const auto count = static_cast<double>(all.count);
  const MeanDifference of{.a = moments_of(a).mean,
                          .b = moments_of(b).mean,
                          .difference = all.mean,
                          .count_a = a.size(),
                          .count_b = b.size()};
  return tested(of, all.std / std::sqrt(count), count - 1.0, level);
}

MeanDifference unpaired_difference(const SampleMoments& a, const SampleMoments& b, double level) {
  const MeanDifference of{.a = a.mean,
                          .b = b.mean,
                          .difference = b.mean - a.mean,
                          .count_a = a.count,
                          .count_b = b.count};
  const auto count_a = static_cast<double>(a.count);
  const auto count_b = static_cast<double>(b.count);
  const double error_a = a.std / std::sqrt(count_a);
  const double error_b = b.std / std::sqrt(count_b);
  const double error = std::hypot(error_a, error_b);
  // Welch and Satterthwaite's degrees of freedom, by shares of the squared error: no underflow.
  const double share_a = error > 0.0 ? error_a / error * (error_a / error) : 0.5;
  const double share_b = 1.0 - share_a;
  const double degrees =
      1.0 / (share_a * share_a / (count_a - 1.0) + share_b * share_b / (count_b - 1.0));
  return tested(of, error, degrees, level);
}

}  // namespace synergraph
