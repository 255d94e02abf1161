#include "synergraph/study/measure_subsets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/ties.h"
#include "synergraph/statistics/intervals.h"

namespace synergraph {
namespace {

// Sequences that weights are sought on, as `heads` does: a search takes as long as all subsets of
// many.
constexpr int kMostWeightSamples = 20;

}  // namespace

ValueSubsets subset_numbers(const ValueOfHeads& layer_value, int samples) {
  using enum SubsetNumber;
  const std::vector<HeadSet>& best = layer_value.pruning.best;
  double most = 0.0;
  for (const HeadSet& set : best) most = std::max(most, set.value);
  const double margin = kTie * most;
  const auto fewest = [&](const auto& good) {
    return std::find_if(best.begin() + 1, best.end(), good) - best.begin();
  };
  ValueSubsets numbers;
  const double all = numbers[kAll] = best.back().value;
  numbers[kBestHead] = best[1].value;
  const auto size = fewest([&](const HeadSet& set) { return reaches(set.value, most); });
  numbers[kBestSize] = static_cast<double>(size);
  numbers[kBestSubset] = best[static_cast<std::size_t>(size)].value;
  numbers[kSufficient] = static_cast<double>(layer_value.smallest.heads.size());
  const auto synergy = fewest(
      [&](const HeadSet& set) { return set.value > best[1].value + layer_value.gap + margin; });
  if (static_cast<std::size_t>(synergy) < best.size())
    numbers[kSynergySize] = static_cast<double>(synergy);
  double share = std::numeric_limits<double>::quiet_NaN();
  for (const ValueOfHead& head : layer_value.heads) {
    if (head.dropped.mean <= margin) numbers[kDispensable] += 1.0;
    if (all > 0.0) share = std::fmax(share, head.shapley.mean / all);
  }
  numbers[kLargestShare] = share;
  if (samples > 1) {
    const double errors = student_quantile(0.975, samples - 1);
    for (const Interaction& pair : layer_value.pairs) {
      if (!(std::abs(pair.index.mean) > errors * pair.index.error + 2.0 * layer_value.gap + margin))
        continue;
      numbers[pair.index.mean < 0.0 ? kRedundantPairs : kComplementaryPairs] += 1.0;
    }
  }
  numbers[kEqualWeights] = layer_value.weights.value().equal_value;
  numbers[kBestWeights] = layer_value.weights->value;
  numbers[kBound] = layer_value.weights->bound;
  return numbers;
}

std::vector<LayerSubsets> measure_subsets(const Model& model, const Sequences& sequences,
                                          const MeasureSettings& settings,
                                          const Execution& execution,
                                          const EvaluatorFactory& evaluators,
                                          const std::string& device) {
  ModelAttention source(model, sequences, nullptr, {}, evaluators);
  HeadValueOptions options;
  options.null_samples = 0;
  options.convention.walk.cutoff = settings.cutoff;
  options.weight_samples = std::min(sequences.count, kMostWeightSamples);
  options.execution = execution;
  options.device = device;
  options.device_optional = true;
  // Weights are sought on all of these, however little memory there is: the results are the same.
  const AttentionLayer& layer = source.layers().front();
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(sequences.count) *
                            static_cast<std::size_t>(layer.heads) *
                            static_cast<std::size_t>(layer.nodes()) *
                            static_cast<std::size_t>(layer.nodes());
  options.execution.memory = std::max(execution.memory.bytes(), 2 * bytes);
  const HeadValues head_values = value_heads(source, weights_of_model(model), options);
  std::vector<LayerSubsets> layers;
  for (const LayerHeadValues& layer_value : head_values.layer_values) {
    LayerSubsets& subsets = layers.emplace_back();
    for (const ValueOfHeads& value : layer_value.values)
      subsets[value.value] = subset_numbers(value, sequences.count);
  }
  return layers;
}

}  // namespace synergraph
