#include "synergraph/heads/synergy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/error.h"

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

void check_convention(const MetricsOptions& convention) {
  // Of cutoffs and horizons, as on the command line.
  static constexpr std::int64_t kMostSteps = 1000000000;
  const auto within = [](const char* name, std::int64_t value, std::int64_t least) {
    if (value < least || value > kMostSteps)
      throw InputError(fmt::format("{} {} is not in {} to {}", name, value, least, kMostSteps));
  };
  if (convention.walk.eps.empty()) throw InputError("no eps of a mixing time");
  for (const double eps : convention.walk.eps)
    if (!(eps > 0.0 && eps <= 1.0)) throw InputError(fmt::format("eps {} is not in (0, 1]", eps));
  within("cutoff", convention.walk.cutoff, 1);
  within("horizon", convention.fidelity.horizon, 0);
  if (convention.fidelity.step_limit < 1)
    throw InputError(fmt::format("step limit {} is not positive", convention.fidelity.step_limit));
  require_named("normalization", convention.normalization);
  require_named("nodes of the fidelity", convention.fidelity.nodes);
}

void check_conventions(const std::vector<MetricsOptions>& conventions) {
  if (conventions.empty()) throw InputError("no convention to measure by");
  const MetricsOptions& first = conventions.front();
  for (const MetricsOptions& convention : conventions) {
    check_convention(convention);
    if (convention.per_head_walks != first.per_head_walks)
      throw InputError("one convention asks for the walks of every head, another does not");
    if (convention.backward != first.backward)
      throw InputError("one convention asks for backward times, another does not");
    if (convention.walk.eps.front() != first.walk.eps.front())
      throw InputError(fmt::format("the first eps of one convention is {}, of another {}",
                                   first.walk.eps.front(), convention.walk.eps.front()));
  }
}

double ratio(double a, double b) {
  if ((a == 0.0 && b == 0.0) || (std::isinf(a) && std::isinf(b)))
    return std::numeric_limits<double>::quiet_NaN();
  return b == 0.0 ? std::numeric_limits<double>::infinity() : a / b;
}

void compare_with_bound(Metrics& metrics, int nodes, int counted) {
  const Fidelity& fidelity = metrics.fidelity;
  metrics.normalised_fidelity = nodes * fidelity.minimax;
  metrics.normalised_fidelity_upper = nodes * fidelity.minimax_upper;
  metrics.fidelity_bound = ratio(metrics.backward_hitting_time, counted);
  const auto closeness = [&](double minimax) {
    return std::isnan(metrics.fidelity_bound) ? metrics.fidelity_bound
                                              : ratio(minimax, metrics.fidelity_bound);
  };
  metrics.fidelity_tightness = closeness(fidelity.minimax);
  metrics.fidelity_tightness_upper = closeness(fidelity.minimax_upper);
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
