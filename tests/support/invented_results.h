#pragma once

// Results of models that were never trained, for tests of what is made of results.

#include <string>
#include <vector>

#include "synergraph/study/cell.h"

namespace synergraph::testing_support {

/// One layer of an invented model; the same numbers by both conventions unless changed.
struct InventedLayer {
  double time = 0.0;
  double fidelity = 0.0;   ///< of all heads together
  double best_head = 0.0;  ///< fidelity
  int with_synergy = 0;
};

inline constexpr int kInventedSamples = 50;

/// Over the invented samples.
inline Summary invented_summary(double mean, double std) {
  Summary summary;
  summary.samples = kInventedSamples;
  summary.mean = summary.median = summary.min = summary.max = mean;
  summary.quantile_10 = mean - std;
  summary.quantile_90 = mean + std;
  summary.std = std;
  return summary;
}

/// A model that has learned its task; standard deviations over samples are a tenth of the means.
inline CellResult invented_result(const std::string& task, int heads, std::uint64_t seed,
                                  const std::vector<InventedLayer>& layers) {
  CellResult result;
  result.cell.train.task = task;
  result.cell.train.model.heads = heads;
  result.cell.train.seed = seed;
  result.cell.measure.samples = kInventedSamples;
  result.accuracy = 1.0;
  for (const InventedLayer& layer : layers) {
    LayerSummary numbers;
    const auto add = [&](const Quantity& quantity, double mean) {
      numbers.numbers[quantity] = invented_summary(mean, 0.1 * mean);
    };
    add(Quantity::kTruncatedHittingMean, layer.time);
    add(Quantity::kMinimaxFidelity, layer.fidelity);
    add(Quantity::kBestHeadFidelity, layer.best_head);
    numbers.with_synergy = layer.with_synergy;
    numbers.rank_correlation = -0.5;
    result.exact.push_back(numbers);
    result.published.push_back(numbers);
  }
  return result;
}

/// A layer's subsets by one value: `all` of it with all heads, with fewer less, with best weights
/// twice as much.
inline ValueSubsets invented_subsets(double all, double sufficient, double synergy_size) {
  using enum SubsetNumber;
  ValueSubsets subsets;
  subsets[kAll] = subsets[kBestSubset] = all;
  subsets[kBestHead] = synergy_size > 0.0 ? 0.5 * all : all;
  subsets[kEqualWeights] = 0.5 * all;
  subsets[kBestWeights] = 2.0 * all;
  subsets[kBound] = 4.0 * all;
  subsets[kLargestShare] = 0.25;
  subsets[kBestSize] = subsets[kSufficient] = sufficient;
  subsets[kSynergySize] = synergy_size;
  subsets[kDispensable] = 1.0;
  subsets[kRedundantPairs] = 2.0;
  return subsets;
}

/// Two layers. Layer 1: more heads are faster and more faithful for every
/// seed. Layer 2: neither, since all models are alike.
inline std::vector<CellResult> clear_study(int seeds,
                                           const std::vector<int>& head_counts = {1, 4, 8, 16}) {
  std::vector<CellResult> results;
  for (const int heads : head_counts)
    for (int seed = 1; seed <= seeds; ++seed) {
      const double shift = 0.01 * seed;
      results.push_back(
          invented_result("copy", heads, static_cast<std::uint64_t>(seed),
                          {{20.0 - heads + shift, 0.01 * heads + 0.01 * shift, 0.02 * heads, 10},
                           {5.0, 0.05, 0.04, 50}}));
    }
  return results;
}

}  // namespace synergraph::testing_support
