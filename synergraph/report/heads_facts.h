#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/stack_analysis.h"

namespace synergraph {

/// The share of a layer's value that its carriers make.
inline constexpr double kCarriedShare = 0.8;
/// Differences below this share of the value of all heads are not spoken of.
inline constexpr double kNotable = 0.01;
/// The chance, at most, that a summary claims anything of heads without structure.
inline constexpr double kFalseClaims = 0.05;

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
  /// Heads without which the layer is better on these samples, clear of chance over samples, the
  /// worst first. They were chosen on the samples that they are judged on: see `better_without`.
  std::vector<int> harmful = {};
  // Claims that hold on samples that did not choose them and that permuted rows do not reach; null:
  // none does.
  const HeldOutClaim* redundant = nullptr;
  const HeldOutClaim* complementary = nullptr;
  const HeldOutClaim* better_without = nullptr;
  const HeldOutClaim* better_set = nullptr;
  const HeldOutClaim* other_weights = nullptr;
};

/// Whether a mean is above 0 by more than two standard errors, or above 0 where it has none.
bool is_clear(const Estimate& number);

/// Whether the loss is clearly higher with all heads of the layer than without any.
bool is_harmful(const ValueOfHeads& layer_value);

/// The value of all heads on the samples that sets were measured on: fewer than all, where a layer
/// is sampled.
double all_on_sets(const ValueOfHeads& layer_value);

/// Whether no smaller set than the smallest one keeps as much: the best of every smaller size are
/// certified.
bool smallest_is_certified(const ValueOfHeads& layer_value);

/// How many claims a report can make: a kind each for every value and layer that was judged.
int possible_claims(const HeadValues& head_values);

/// So many samples a claim needs at least: half of them judge it, and the chance that all of these
/// agree must be small enough for each of `claims`.
int samples_for_claims(int claims);

/// The facts of a value, which must outlive them, in a report of so many claims. A claim is a fact
/// if it is notable, beyond the gap of values that are not certified, and its chance is at most
/// kFalseClaims divided by the number of claims.
ValueFacts value_facts(const ValueOfHeads& layer_value, int samples, int claims);

/// The facts of a value in every layer.
std::vector<ValueFacts> value_facts(const HeadValues& head_values, std::size_t value);

/// The source with the least maximum flow to the sink; nothing where flows were not asked for.
std::optional<std::size_t> least_flow(const StackAnalysis& stack);

}  // namespace synergraph
