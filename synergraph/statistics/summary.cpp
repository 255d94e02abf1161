#include "synergraph/statistics/summary.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

/// The value below which a share of the sorted values lies, interpolated between neighbours.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  // Between two infinite values there is nothing to interpolate: that would be infinity - infinity.
  if (part == 0.0 || std::isinf(sorted[below])) return sorted[below];
  return sorted[below] + (sorted[below + 1] - sorted[below]) * part;
}

}  // namespace

Summary summarise(std::vector<double> values) {
  Summary summary;
  summary.samples = values.size();
  values.erase(
      std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); }),
      values.end());
  summary.undefined = summary.samples - values.size();
  std::sort(values.begin(), values.end());
  const auto finite_end =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isinf(value); });
  summary.never = static_cast<std::size_t>(values.end() - finite_end);
  if (values.empty()) {
    summary.mean = summary.std = summary.min = summary.median = summary.max = kNan;
    summary.quantile_10 = summary.quantile_90 = kNan;
    return summary;
  }
  summary.min = values.front();
  summary.max = values.back();
  summary.median = quantile(values, 0.5);
  summary.quantile_10 = quantile(values, 0.1);
  summary.quantile_90 = quantile(values, 0.9);
  const auto count = static_cast<double>(finite_end - values.begin());
  if (count == 0.0) {
    summary.mean = values.front();
    summary.std = kNan;
    return summary;
  }
  // In units of a power of two where squares would overflow or vanish; exact otherwise.
  const double largest = std::max(std::abs(values.front()), std::abs(*std::prev(finite_end)));
  const bool safe = largest == 0.0 || (largest > 0x1.0p-400 && largest < 0x1.0p400);
  const int exponent = safe ? 0 : std::ilogb(largest);
  double sum = 0.0;
  for (auto value = values.begin(); value != finite_end; ++value)
    sum += std::ldexp(*value, -exponent);
  const double mean = sum / count;
  double squares = 0.0;
  for (auto value = values.begin(); value != finite_end; ++value) {
    const double deviation = std::ldexp(*value, -exponent) - mean;
    squares += deviation * deviation;
  }
  summary.mean = std::ldexp(mean, exponent);
  summary.std = std::ldexp(std::sqrt(squares / count), exponent);
  return summary;
}

}  // namespace synergraph
