#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/core/names.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a training can promote beside its task. Each is a number of D, the mean of the attention
/// of a layer's heads before dropout, towards the last of n tokens; larger is better.
enum class PromotedMetric {
  kFidelity,  ///< softened minimax fidelity over the sources within kPromotionHorizon steps, or n
  kSpeed,     ///< -log of the mean hitting time of the pooled walk
  kEntropy,   ///< mean over the rows of D of their entropy, in nats: a baseline for the others
};
inline constexpr std::size_t kPromotedMetrics = 3;

template <>
inline constexpr NameTable<PromotedMetric, kPromotedMetrics> kNamesOf<PromotedMetric>{{
    {PromotedMetric::kFidelity, "fidelity"},
    {PromotedMetric::kSpeed, "speed"},
    {PromotedMetric::kEntropy, "entropy"},
}};

inline constexpr double kPromotionSoftness = 0.05;  ///< of the minimax fidelity, 1 / beta
inline constexpr int kPromotionHorizon = 100;       ///< most steps of the fidelity
inline constexpr double kLargestStrength = 1e6;

/// How strongly a training promotes each metric. The loss of a step becomes
///   cross-entropy - sum over metrics of strength * mean over sequences and layers of the metric.
/// A negative strength discourages.
struct Promotion {
  std::array<double, kPromotedMetrics> strengths = {};

  double operator[](PromotedMetric metric) const {
    return strengths[static_cast<std::size_t>(metric)];
  }
  bool active() const { return *this != Promotion(); }
  bool operator==(const Promotion&) const = default;
};

/// Reads texts NAME=STRENGTH. UsageError names a text that is none, and a metric that is there
/// twice. A strength of 0 is as good as none.
Promotion parse_promotion(const std::vector<std::string>& texts);
/// The reverse, without strengths of 0, in the order of PromotedMetric.
std::vector<std::string> texts_of(const Promotion& promotion);

/// Sums of promoted metrics over sequences and layers. A sequence whose metric is not finite in a
/// layer is left out there, and not counted.
struct PromotedSums {
  std::array<double, kPromotedMetrics> sums = {};
  std::array<std::int64_t, kPromotedMetrics> counts = {};

  void add(const PromotedSums& other);
  /// NaN where nothing is counted.
  double mean(PromotedMetric metric) const;
  std::int64_t count(PromotedMetric metric) const {
    return counts[static_cast<std::size_t>(metric)];
  }
  bool operator==(const PromotedSums&) const = default;
};

}  // namespace synergraph
#pragma GCC visibility pop
