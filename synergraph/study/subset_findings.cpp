#include "synergraph/study/subset_findings.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/special_values.h"
#include "synergraph/core/ties.h"

namespace synergraph {
namespace {

using Models = std::vector<const CellResult*>;

/// Of some layers, `begin` to `end`, of models that are alike but for the seed.
class LayerRange {
 public:
  LayerRange(const Models& models, HeadValue value, std::size_t begin, std::size_t end)
      : models_(models), value_(value), begin_(begin), end_(end) {}

  /// The mean over the layers that define it.
  template <class Number>
  SeedNumber over_seeds(const Number& number) const {
    SeedNumber seeds;
    std::vector<double> known;
    for (const CellResult* model : models_) {
      double sum = 0.0;
      int defined = 0;
      for (std::size_t l = begin_; l < end_; ++l) {
        const double here = number(model->subsets[l][value_]);
        if (std::isnan(here)) continue;
        sum += here;
        ++defined;
      }
      seeds.values.push_back(defined > 0 ? sum / defined : kNan);
      if (defined > 0) known.push_back(seeds.values.back());
    }
    seeds.mean = mean_interval(known);
    return seeds;
  }

  template <class Condition>
  Share layers(const Condition& condition) const {
    Share share;
    for (const CellResult* model : models_)
      for (std::size_t l = begin_; l < end_; ++l)
        share += {condition(model->subsets[l][value_]) ? 1 : 0, 1};
    return share;
  }

 private:
  const Models& models_;
  HeadValue value_;
  std::size_t begin_;
  std::size_t end_;
};

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : kNan;
}

void summarise(const LayerRange& range, SubsetSummary& summary) {
  using enum SubsetNumber;
  for (const auto& [number, name] : kNamesOf<SubsetNumber>)
    summary.numbers[number] = range.over_seeds([which = number](const ValueSubsets& v) {
      return which == kSynergySize && !v.synergy() ? kNan : v[which];
    });
  summary.learned_share =
      range.over_seeds([](const ValueSubsets& v) { return ratio(v[kAll], v[kBestWeights]); });
  summary.equal_share = range.over_seeds(
      [](const ValueSubsets& v) { return ratio(v[kEqualWeights], v[kBestWeights]); });
  summary.proven_share =
      range.over_seeds([](const ValueSubsets& v) { return ratio(v[kAll], v[kBound]); });
  summary.synergy = range.layers([](const ValueSubsets& v) { return v.synergy(); });
  summary.fewer_synergy = range.layers(
      [&](const ValueSubsets& v) { return v.synergy() && v[kSynergySize] < summary.heads; });
  summary.fewer_synergy.trials = summary.synergy.successes;
  summary.better =
      range.layers([](const ValueSubsets& v) { return exceeds(v[kBestSubset], v[kAll]); });
}

}  // namespace

std::vector<SubsetSummary> summarise_subsets(const Models& models) {
  std::size_t layers = models.empty() ? 0 : models.front()->subsets.size();
  for (const CellResult* model : models) layers = std::min(layers, model->subsets.size());
  if (layers == 0) return {};
  std::vector<SubsetSummary> summaries;
  const Cell& cell = models.front()->cell;
  for (const HeadValue value : {HeadValue::kFidelity, HeadValue::kSpeed}) {
    const auto add = [&](int layer, std::size_t begin, std::size_t end) {
      SubsetSummary& summary = summaries.emplace_back();
      summary.task = cell.train.task;
      summary.heads = cell.train.model.heads;
      summary.layer = layer;
      summary.value = value;
      summary.samples = cell.measure.subset_samples;
      summarise(LayerRange(models, value, begin, end), summary);
    };
    for (std::size_t l = 0; l < layers; ++l) add(static_cast<int>(l), l, l + 1);
    add(SubsetSummary::kAllLayers, 0, layers);
  }
  return summaries;
}

}  // namespace synergraph
