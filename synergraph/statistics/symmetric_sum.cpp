#include "synergraph/statistics/symmetric_sum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace synergraph {

double symmetric_sum_chance(double sum, double squares) {
  if (!(sum > 0.0) || !(squares > 0.0)) return 1.0;
  const auto above = [](double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); };
  static const double factor = 0.25 / above(std::numbers::sqrt2);
  return std::min(1.0, factor * above(sum / std::sqrt(squares)));
}

}  // namespace synergraph
