#include "synergraph/heads/synergy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/triangular.h"
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

FidelityRange range_of(const Fidelity& fidelity) {
  return {fidelity.minimax, fidelity.minimax_upper};
}

/// The share at the combined minimax.
double minimax_cross_share(const std::vector<Head>& heads, const std::vector<double>& weights,
                           const Fidelity& combined) {
  std::vector<Matrix> mirrored;
  mirrored.reserve(heads.size());
  CrossHeadShare share(weights, combined.minimax_node, combined.minimax_time, combined.minimax);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    Matrix& matrix = mirrored.emplace_back(heads[h].diffusion);
    transpose_lower(matrix, matrix.view());
    share.add(static_cast<int>(h), matrix);
  }
  return share.share([&](int h) -> const Matrix& { return mirrored[static_cast<std::size_t>(h)]; });
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
  std::vector<FidelityRange> ranges;
  for (const Head& head : heads) {
    const Walk walk = head_walk(head, options.normalization);
    result.heads.push_back(measure(walk, head.diffusion, options, options.per_head_walks));
    const Metrics& metrics = result.heads.back();
    forward.push_back(metrics.forward_probability);
    ranges.push_back(range_of(metrics.fidelity));
  }
  const Walk walk = combine_walk(heads, weights, options.normalization);
  result.combined = measure(walk, combine_diffusion(heads, weights), options, true);
  result.effective_forward_probability = combined_forward_probability(forward, weights);
  result.effective_bound = mixing_bound(walk.nodes(), result.effective_forward_probability);
  result.adaptive = adaptive_bound(walk.nodes(), forward);
  result.synergy = compare_with_best(ranges, range_of(result.combined.fidelity));
  result.mixing_synergy =
      options.per_head_walks && !options.walk.eps.empty()
          ? mixing_synergy(heads, weights, options.walk.eps.front(), options.walk.threads)
          : std::numeric_limits<double>::quiet_NaN();
  result.cross_head_share = minimax_cross_share(heads, weights, result.combined.fidelity);
  return result;
}

}  // namespace synergraph
