#include "synergraph/heads/synergy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/heads/cross_head.h"

namespace synergraph {
namespace {

Metrics measure(const Walk& walk, const Matrix& diffusion, const MetricsOptions& options,
                bool with_walk) {
  Metrics metrics;
  metrics.forward_probability = forward_probability(walk);
  metrics.bound = mixing_bound(walk.nodes(), metrics.forward_probability);
  if (with_walk) metrics.walk = summarise_walk(walk, options.walk);
  metrics.fidelity = fidelity(diffusion, options.fidelity);
  return metrics;
}

/// The share at the combined minimax; in the limit of many steps no path stays in one head.
double minimax_cross_share(const std::vector<Head>& heads, const std::vector<double>& weights,
                           const Fidelity& combined) {
  if (!(combined.minimax > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(combined.minimax_time))
    return std::count(weights.begin(), weights.end(), 1.0) == 1 ? 0.0 : 1.0;
  return cross_head(heads, weights, static_cast<std::int64_t>(combined.minimax_time))
      .share(combined.minimax_node);
}

}  // namespace

MetricsOptions convention_options(Convention convention) {
  MetricsOptions options;
  if (convention == Convention::kPublished) {
    options.normalization = Normalization::kPublished;
    options.fidelity.nodes = FidelityNodes::kAll;
    options.fidelity.horizon = 100;
  }
  return options;
}

std::string_view name_of(Convention convention) {
  return convention == Convention::kExact ? "exact" : "published";
}

std::string_view name_of(Normalization normalization) {
  switch (normalization) {
    case Normalization::kPerHead:
      return "per-head";
    case Normalization::kPooled:
      return "pooled";
    case Normalization::kPublished:
      return "published";
  }
  return "";
}

std::string_view name_of(FidelityNodes nodes) {
  return nodes == FidelityNodes::kSources ? "sources" : "all";
}

double ratio(double a, double b) {
  if ((a == 0.0 && b == 0.0) || (std::isinf(a) && std::isinf(b)))
    return std::numeric_limits<double>::quiet_NaN();
  return b == 0.0 ? std::numeric_limits<double>::infinity() : a / b;
}

double mixing_synergy(const std::vector<Head>& heads, const std::vector<double>& weights,
                      double eps, int threads) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Head& head : heads)
    fastest =
        std::min(fastest, mixing_time(head_walk(head, Normalization::kPerHead), eps, threads));
  const Walk combined = combine_walk(heads, weights, Normalization::kPerHead);
  return ratio(fastest, mixing_time(combined, eps, threads));
}

HeadsMetrics measure_heads(const std::vector<Head>& heads, const std::vector<double>& weights,
                           const MetricsOptions& options) {
  HeadsMetrics result;
  result.weights = weights;
  std::vector<double> forward;
  for (const Head& head : heads) {
    const Walk walk = head_walk(head, options.normalization);
    result.heads.push_back(measure(walk, head.diffusion, options, options.per_head_walks));
    const Metrics& metrics = result.heads.back();
    forward.push_back(metrics.forward_probability);
    if (metrics.fidelity.minimax > result.best_head_fidelity || result.heads.size() == 1) {
      result.best_head = static_cast<int>(result.heads.size()) - 1;
      result.best_head_fidelity = metrics.fidelity.minimax;
    }
  }
  const Walk walk = combine_walk(heads, weights, options.normalization);
  result.combined = measure(walk, combine_diffusion(heads, weights), options, true);
  result.effective_forward_probability = combined_forward_probability(forward, weights);
  result.effective_bound = mixing_bound(walk.nodes(), result.effective_forward_probability);
  result.adaptive = adaptive_bound(walk.nodes(), forward);
  result.synergy = ratio(result.combined.fidelity.minimax, result.best_head_fidelity);
  result.mixing_synergy =
      options.per_head_walks && !options.walk.eps.empty()
          ? mixing_synergy(heads, weights, options.walk.eps.front(), options.walk.threads)
          : std::numeric_limits<double>::quiet_NaN();
  result.cross_head_share = minimax_cross_share(heads, weights, result.combined.fidelity);
  return result;
}

}  // namespace synergraph
