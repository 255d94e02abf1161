#pragma once

#include <vector>

#include "synergraph/analysis/head_values.h"

namespace synergraph {

/// The share of a layer's value that its carriers make.
inline constexpr double kCarriedShare = 0.8;
/// Differences below this share of the value of all heads are not spoken of.
inline constexpr double kNotable = 0.01;

/// What the numbers of one value in one layer support.
struct ValueFacts {
  std::size_t heads = 0;
  /// Whether values are known well enough to compare heads: not where some are not certified and
  /// may be larger by more than kNotable of the value of all, nor where the loss does not clearly
  /// need the layer. Then there are no carriers.
  bool decided = true;
  /// The fewest heads, by falling Shapley value, whose Shapley values make kCarriedShare of the
  /// value of all, rising. None where that is 0.
  std::vector<int> carriers = {};
  double carried = 0.0;  ///< their share
  /// The strongest of the pairs that are clear of chance; null: none is.
  const Interaction* complementary = nullptr;
  const Interaction* redundant = nullptr;
  /// Heads without which the layer is better, clear of chance, the worst first.
  std::vector<int> harmful = {};
  /// The best subset, where it is notably better than all heads together; null: it is not.
  const HeadSet* better = nullptr;
  /// What other weights were found to be worth over those given; 1 where not sought.
  double reweighted = 1.0;
};

/// Whether a mean is above 0 by more than two standard errors, or above 0 where it has none.
bool is_clear(const Estimate& number);

/// The value of all heads on the samples that sets were measured on: fewer than all, where a layer
/// is sampled.
double all_on_sets(const ValueOfHeads& layer_value);

/// Whether no smaller set than the smallest one keeps as much: the best of every smaller size are
/// certified.
bool smallest_is_certified(const ValueOfHeads& layer_value);

/// The facts of a value, which must outlive them. Clear of chance is a mean that is notable and
/// further from 0 than the gap of values that are not certified explains, by two standard errors
/// and by as many as Student's t distribution asks for at 95 % for all pairs, or all heads,
/// together. A single sample has no error: then its numbers count as they are.
ValueFacts value_facts(const ValueOfHeads& layer_value, int samples);

/// The facts of a value in every layer.
std::vector<ValueFacts> value_facts(const HeadValues& head_values, std::size_t value);

}  // namespace synergraph
