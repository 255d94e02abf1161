#pragma once

#include <map>
#include <string>
#include <vector>

#include "synergraph/statistics/intervals.h"
#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One number a seed.
struct SeedNumber {
  std::vector<double> values;  ///< in the seeds' order; NaN where undefined
  Interval mean;               ///< Student's, over the seeds that define it
};

/// What the subsets of heads of the models of one task and head count say, over seeds.
struct SubsetSummary {
  static constexpr int kAllLayers = -1;

  std::string task;
  int heads = 0;
  int layer = 0;  ///< kAllLayers: a model's number is the mean over its layers
  HeadValue value = HeadValue::kFidelity;
  int samples = 0;  ///< of each model

  /// kSynergySize of layers with synergy only.
  std::map<SubsetNumber, SeedNumber> numbers;
  SeedNumber
      learned_share;       ///< of the value with the best weights found, what the learned ones have
  SeedNumber equal_share;  ///< the same for equal weights
  SeedNumber
      proven_share;  ///< what the learned ones have of the bound: at least so near to the best

  // Layers of models
  Share synergy;        ///< in which some subset is better than the best head
  Share fewer_synergy;  ///< of those, in which fewer than all heads are enough for that
  Share better;         ///< in which some subset is better than all heads

  const Interval& operator[](SubsetNumber number) const { return numbers.at(number).mean; }
};

/// The models of one task and head count, one a seed: every layer, then all of them, by both
/// values. Nothing unless the subsets of all of them were measured.
std::vector<SubsetSummary> summarise_subsets(const std::vector<const CellResult*>& models);

}  // namespace synergraph
#pragma GCC visibility pop
