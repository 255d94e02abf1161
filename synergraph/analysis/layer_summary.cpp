#include "synergraph/analysis/layer_summary.h"

#include <algorithm>

#include "synergraph/statistics/rank_tests.h"

namespace synergraph {
namespace {

/// One number of every sample.
template <class Value>
std::vector<double> values_of(const std::vector<HeadsMetrics>& samples, const Value& value) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const HeadsMetrics& sample : samples) values.push_back(value(sample));
  return values;
}

}  // namespace

Share LayerSummary::synergy_share() const {
  return {with_synergy, static_cast<std::int64_t>(numbers.at(Quantity::kMinimaxFidelity).samples)};
}

MeasuredLayer summarise_layer(const std::vector<HeadsMetrics>& samples,
                              const std::vector<double>& eps) {
  MeasuredLayer layer;
  LayerSummary& all = layer.all;
  const auto of_all = [&](const Quantity& quantity) {
    return values_of(samples, [&](const HeadsMetrics& s) { return value_of(quantity, s, eps); });
  };
  for (const Quantity& quantity : layer_quantities(eps))
    all.numbers[quantity] = summarise(of_all(quantity));
  all.rank_correlation =
      rank_correlation(of_all(Quantity::kTruncatedHittingMean), of_all(Quantity::kMinimaxFidelity));
  layer.heads.resize(samples.front().heads.size());
  for (std::size_t h = 0; h < layer.heads.size(); ++h) {
    layer.heads[h].best.trials = static_cast<std::int64_t>(samples.size());
    for (const Quantity& quantity : system_quantities(eps))
      layer.heads[h].numbers[quantity] = summarise(values_of(
          samples, [&](const HeadsMetrics& s) { return value_of(quantity, s.heads[h], eps); }));
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
