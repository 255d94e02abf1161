#include "synergraph/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

/// What a distribution that is symmetric about 0 holds within [-t, t] and outside of it. Both are
/// given, since 1 minus the larger has no digits of the smaller.
struct Mass {
  double centre = 0.0;
  double tails = 0.0;
};

/// I_x(a, b) B(a, b) / (x^a y^b) for the incomplete beta function with y = 1 - x: a continued
/// fraction (DiDonato and Morris, 1992) by Lentz's method. Converges fast for x below about
/// (a + 1) / (a + b + 2), without cancellation where y is small.
double beta_fraction(double x, double y, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  const double lambda = a * y - b * x;
  double denominator = away_from_zero(a * (lambda + 1.0) / (a + 1.0));
  double c = denominator;
  double d = 0.0;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double step = a + 2.0 * m - 1.0;
    const double alpha = (a + m - 1.0) / step * (a + b + m - 1.0) / step * m * (b - m) * x * x;
    const double beta =
        m + m * (b - m) * x / step + (a + m) / (step + 2.0) * (lambda + 1.0 + m * (1.0 + y));
    d = 1.0 / away_from_zero(beta + alpha * d);
    c = away_from_zero(beta + alpha / c);
    denominator *= c * d;
    if (std::abs(c * d - 1.0) < 1e-16) break;
  }
  return 1.0 / denominator;
}

/// Gamma(a + 1/2) / Gamma(a). Large arguments by its asymptotic series: Gamma itself overflows and
/// differences of its logarithm lose digits.
double gamma_ratio(double a) {
  if (a < 100.0) return std::tgamma(a + 0.5) / std::tgamma(a);
  const double r = 1.0 / a;
  return std::sqrt(a) *
         (1.0 + r * (-1.0 / 8 + r * (1.0 / 128 +
                                     r * (5.0 / 1024 + r * (-21.0 / 32768 - r * 399.0 / 262144)))));
}

/// Student's t with nu degrees of freedom. With x = nu / (nu + t^2) the tails hold I_x(nu/2, 1/2)
/// and the centre I_{1-x}(1/2, nu/2); the one whose fraction converges is computed.
Mass student_mass(double t, double nu) {
  const double a = 0.5 * nu;
  const double square = t / nu * t;  // t^2 / nu
  if (std::isinf(square)) {
    // So far out only the leading term counts: x^a / (a B(a, 1/2)) with x = nu / t^2.
    const double tails = gamma_ratio(a) / (a * std::sqrt(std::numbers::pi)) *
                         std::exp(a * (std::log(nu) - 2.0 * std::log(t)));
    return {1.0 - tails, tails};
  }
  const double x = 1.0 / (1.0 + square);
  const double y = square / (1.0 + square);
  // x^a y^(1/2) / B(a, 1/2)
  const double front = std::exp(-a * std::log1p(square)) * std::sqrt(y) * gamma_ratio(a) /
                       std::sqrt(std::numbers::pi);
  if (x < (a + 1.0) / (a + 2.5)) {
    const double tails = front * beta_fraction(x, y, a, 0.5);
    return {1.0 - tails, tails};
  }
  const double centre = front * beta_fraction(y, x, 0.5, a);
  return {centre, 1.0 - centre};
}

Mass normal_mass(double t) {
  return {std::erf(t / std::numbers::sqrt2), std::erfc(t / std::numbers::sqrt2)};
}

/// The p-quantile, by bisection of log t: the relative error of t is that of `mass`.
template <class MassWithin>
double symmetric_quantile(double p, const MassWithin& mass) {
  if (!(p >= 0.0 && p <= 1.0)) return kNan;
  const double tail = std::min(p, 1.0 - p);
  const double sign = p < 0.5 ? -1.0 : 1.0;
  if (tail == 0.0) return sign * kInfinity;
  if (tail == 0.5) return 0.0;
  const bool by_tails = tail < 0.25;
  const auto too_far = [&](double t) {
    const Mass m = mass(t);
    return by_tails ? m.tails < 2.0 * tail : m.centre > 1.0 - 2.0 * tail;
  };
  double low = -745.0;  // logarithms of the smallest and the largest double
  double high = 709.0;
  for (;;) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return sign * std::exp(middle);
    (too_far(std::exp(middle)) ? high : low) = middle;
  }
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return kNan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double student_quantile(double p, double degrees) {
  if (!(degrees > 0.0)) return kNan;
  if (std::isinf(degrees)) return normal_quantile(p);
  return symmetric_quantile(p, [degrees](double t) { return student_mass(t, degrees); });
}

double student_tails(double t, double degrees) {
  if (!(degrees > 0.0) || std::isnan(t)) return kNan;
  if (t == 0.0) return 1.0;
  if (std::isinf(t)) return 0.0;
  const double size = std::abs(t);
  return std::isinf(degrees) ? normal_mass(size).tails : student_mass(size, degrees).tails;
}

double normal_quantile(double p) {
  return symmetric_quantile(p, normal_mass);
}

Interval sample_interval(double mean, double std, std::size_t samples, double level) {
  const auto degrees = static_cast<double>(std::max<std::size_t>(2, samples) - 1);
  const double half = normal_quantile(0.5 + 0.5 * level) * std / std::sqrt(degrees);
  return {mean, mean - half, mean + half};
}

double sample_std(const std::vector<double>& values) {
  const double mean = mean_of(values);
  if (values.size() < 2 || !std::isfinite(mean)) return kNan;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

Interval mean_interval(const std::vector<double>& values, double level) {
  const double mean = mean_of(values);
  const double std = sample_std(values);
  if (std::isnan(std)) return {mean, kNan, kNan};
  const auto count = static_cast<double>(values.size());
  const double half = student_quantile(0.5 + 0.5 * level, count - 1.0) * std / std::sqrt(count);
  return {mean, mean - half, mean + half};
}

double Share::value() const {
  return trials > 0 ? static_cast<double>(successes) / static_cast<double>(trials) : kNan;
}

Share& Share::operator+=(const Share& other) {
  successes += other.successes;
  trials += other.trials;
  return *this;
}

Interval share_interval(const Share& share, double level) {
  if (share.trials <= 0) return {kNan, 0.0, 1.0};
  const auto n = static_cast<double>(share.trials);
  const double p = share.value();
  const double z = normal_quantile(0.5 + 0.5 * level);
  const double weight = 1.0 / (1.0 + z * z / n);
  const double centre = weight * (p + z * z / (2.0 * n));
  const double half = weight * z * std::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
  // Where nothing or all succeeded, the bound is exactly 0 or 1.
  return {p, share.successes == 0 ? 0.0 : centre - half,
          share.successes == share.trials ? 1.0 : centre + half};
}

}  // namespace synergraph
