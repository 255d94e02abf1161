#include "synergraph/heads/synergy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace synergraph {

MetricsOptions convention_options(Convention convention) {
  MetricsOptions options;
  if (convention == Convention::kPublished) {
    options.normalization = Normalization::kPublished;
    options.fidelity.nodes = FidelityNodes::kAll;
    options.fidelity.horizon = 100;
  }
  return options;
}

MetricsOptions graph_options(Convention convention) {
  MetricsOptions options = convention_options(convention);
  if (convention == Convention::kExact) options.normalization = Normalization::kPerHead;
  return options;
}

double ratio(double a, double b) {
  if ((a == 0.0 && b == 0.0) || (std::isinf(a) && std::isinf(b)))
    return std::numeric_limits<double>::quiet_NaN();
  return b == 0.0 ? std::numeric_limits<double>::infinity() : a / b;
}

std::optional<bool> Synergy::present() const {
  if (lower > 1.0) return true;
  if (upper > 1.0) return std::nullopt;
  return false;
}

Synergy compare_with_best(const std::vector<FidelityRange>& heads, const FidelityRange& combined) {
  Synergy result;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (h == 0 || heads[h].lower > result.best_head_fidelity) {
      result.best_head = static_cast<int>(h);
      result.best_head_fidelity = heads[h].lower;
    }
    result.best_head_fidelity_upper = std::max(result.best_head_fidelity_upper, heads[h].upper);
  }
  for (std::size_t h = 0; h < heads.size(); ++h)
    if (static_cast<int>(h) != result.best_head && heads[h].upper > result.best_head_fidelity)
      result.best_head_decided = false;
  result.lower = ratio(combined.lower, result.best_head_fidelity_upper);
  result.upper = ratio(combined.upper, result.best_head_fidelity);
  const bool known = combined.lower == combined.upper &&
                     result.best_head_fidelity == result.best_head_fidelity_upper;
  result.value = known ? result.lower : std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace synergraph
