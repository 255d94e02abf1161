#include "synergraph/analysis/layer_summary.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "synergraph/core/parallel.h"
#include "synergraph/core/special_values.h"
#include "synergraph/statistics/rank_tests.h"

namespace synergraph {
namespace {

/// The mean of a sample's numbers over its sinks: of those that exist, infinite if one of them is.
template <class Value>
double over_sinks(std::span<const HeadsMetrics> sinks, const Value& value) {
  double mean = kNan;
  double count = 0.0;
  for (const HeadsMetrics& sink : sinks) {
    const double number = value(sink);
    if (std::isinf(number)) return number;
    if (std::isnan(number)) continue;
    count += 1.0;
    mean = count == 1.0 ? number : mean + (number - mean) / count;
  }
  return mean;
}

/// One number of every sample.
template <class Value>
std::vector<double> values_of(const std::vector<HeadsMetrics>& systems, std::size_t sinks,
                              const Value& value) {
  std::vector<double> values;
  values.reserve(systems.size() / sinks);
  for (std::size_t first = 0; first < systems.size(); first += sinks)
    values.push_back(over_sinks(std::span(systems).subspan(first, sinks), value));
  return values;
}

}  // namespace

Share LayerSummary::synergy_share() const {
  const Summary& fidelity = numbers.at(Quantity::kMinimaxFidelity);
  return {with_synergy, static_cast<std::int64_t>(fidelity.samples) * sinks};
}

MeasuredLayer summarise_layer(const std::vector<HeadsMetrics>& samples,
                              const std::vector<double>& eps, int sinks, bool backward) {
  // Few numbers take less time than threads take to begin.
  constexpr std::size_t kManyHeads = 4096;
  const int threads = samples.size() * samples.front().heads.size() < kManyHeads ? 1 : 0;
  MeasuredLayer layer;
  LayerSummary& all = layer.all;
  all.sinks = sinks;
  const auto each = [&](const auto& value) {
    return values_of(samples, static_cast<std::size_t>(sinks), value);
  };
  const auto of_all = [&](const Quantity& quantity) {
    return each([&](const HeadsMetrics& s) { return value_of(quantity, s, eps); });
  };
  const std::vector<Quantity> quantities = layer_quantities(eps, backward);
  std::vector<Summary> found(quantities.size());
  parallel_for(found.size(), threads,
               [&](std::size_t k, int) { found[k] = summarise(of_all(quantities[k])); });
  for (std::size_t k = 0; k < found.size(); ++k) all.numbers[quantities[k]] = found[k];
  all.rank_correlation =
      rank_correlation(of_all(Quantity::kTruncatedHittingMean), of_all(Quantity::kMinimaxFidelity));
  layer.heads.resize(samples.front().heads.size());
  const std::vector<Quantity> of_heads = system_quantities(eps, backward);
  const std::size_t count = of_heads.size();
  found.resize(layer.heads.size() * count);
  parallel_for(found.size(), threads, [&](std::size_t k, int) {
    found[k] = summarise(each([&](const HeadsMetrics& s) {
      return value_of(of_heads[k % count], s.heads[k / count], eps);
    }));
  });
  for (std::size_t h = 0; h < layer.heads.size(); ++h) {
    layer.heads[h].best.trials = static_cast<std::int64_t>(samples.size());
    for (std::size_t k = 0; k < count; ++k)
      layer.heads[h].numbers[of_heads[k]] = found[h * count + k];
  }
  for (const HeadsMetrics& sample : samples) {
    ++layer.heads[static_cast<std::size_t>(sample.synergy.best_head)].best.successes;
    if (!sample.synergy.best_head_decided) ++layer.best_head_undecided;
    const std::optional<bool> present = sample.synergy.present();
    if (!present) ++all.synergy_undecided;
    if (present.value_or(false)) ++all.with_synergy;
  }
  const auto most = std::max_element(layer.heads.begin(), layer.heads.end(),
                                     [](const HeadSummary& a, const HeadSummary& b) {
                                       return a.best.successes < b.best.successes;
                                     });
  layer.best_head = static_cast<int>(most - layer.heads.begin());
  return layer;
}

}  // namespace synergraph
