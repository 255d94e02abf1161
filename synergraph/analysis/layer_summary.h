#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "synergraph/heads/quantity.h"
#include "synergraph/statistics/intervals.h"
#include "synergraph/statistics/summary.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Numbers over samples.
using Numbers = std::map<Quantity, Summary>;

/// All heads of a layer over its samples. Of a sample with several sinks, a number is its mean over
/// the sinks: sinks of one sample are not independent. Counts are of every sink of every sample.
struct LayerSummary {
  Numbers numbers;
  int sinks = 1;                       ///< of every sample
  std::int64_t with_synergy = 0;       ///< samples in which all heads together beat the best one
  std::int64_t synergy_undecided = 0;  ///< samples whose fidelities, not certified, do not tell
  /// Spearman's rank correlation of truncated hitting time and fidelity over the samples; NaN where
  /// one of them does not vary.
  double rank_correlation = 0.0;

  const Summary& operator[](const Quantity& quantity) const { return numbers.at(quantity); }
  /// Samples with synergy, of all.
  Share synergy_share() const;
};

/// One head over its layer's samples.
struct HeadSummary {
  Numbers numbers;
  Share best;  ///< samples in which it is the best, of all

  const Summary& operator[](const Quantity& quantity) const { return numbers.at(quantity); }
};

/// A layer over its samples.
struct MeasuredLayer {
  LayerSummary all;
  std::vector<HeadSummary> heads;
  int best_head = 0;            ///< the first of those that are most often the best
  int best_head_undecided = 0;  ///< samples whose fidelities, not certified, leave it open
};

/// The summary of samples that were measured with these eps. Every `sinks` in a row are one sample
/// up to several sinks; their number is a multiple of it. `backward` as in MetricsOptions.
MeasuredLayer summarise_layer(const std::vector<HeadsMetrics>& samples,
                              const std::vector<double>& eps, int sinks = 1, bool backward = false);

}  // namespace synergraph
#pragma GCC visibility pop
