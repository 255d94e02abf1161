#include "synergraph/statistics/estimate.h"

#include <cmath>
#include <limits>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/statistics/summary.h"

namespace synergraph {

Estimate estimate(std::span<const double> samples) {
  if (samples.empty()) throw InputError("no samples to estimate a mean from");
  const Summary summary = summarise(std::vector<double>(samples.begin(), samples.end()));
  if (samples.size() == 1) return {summary.mean, std::numeric_limits<double>::quiet_NaN()};
  return {summary.mean, summary.std / std::sqrt(static_cast<double>(samples.size() - 1))};
}

}  // namespace synergraph
