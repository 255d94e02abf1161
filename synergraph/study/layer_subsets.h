#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/subsets/subset_options.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a study keeps of the subsets of a layer's heads. The first are values, of heads with their
/// learned weights unless it says otherwise; then counts of heads, and of pairs.
enum class SubsetNumber {
  kAll,           ///< all heads
  kBestHead,      ///< the best single one
  kBestSubset,    ///< the best subset
  kEqualWeights,  ///< all heads, equally weighted
  kBestWeights,   ///< all heads, with the best weights that were found for the same samples
  kBound,         ///< no weights are better than this
  kLargestShare,  ///< the largest Shapley value of a head, as a share of kAll; NaN where that is 0
  kBestSize,      ///< heads in the best subset, the fewest that tie
  kSufficient,    ///< the fewest heads that keep 95 % of kAll
  kSynergySize,   ///< the fewest heads that are better than the best single one; 0: none are
  kDispensable,   ///< heads without which, each by itself, the others are worth no less
  /// Pairs whose interaction is below 0, and above, by Student's t test of each at the level 0.05;
  /// 0 on a single sample.
  kRedundantPairs,
  kComplementaryPairs,
};

template <>
inline constexpr NameTable<SubsetNumber, 13> kNamesOf<SubsetNumber>{
    {{SubsetNumber::kAll, "all"},
     {SubsetNumber::kBestHead, "best_head"},
     {SubsetNumber::kBestSubset, "best_subset"},
     {SubsetNumber::kEqualWeights, "equal_weights"},
     {SubsetNumber::kBestWeights, "best_weights"},
     {SubsetNumber::kBound, "bound"},
     {SubsetNumber::kLargestShare, "largest_share"},
     {SubsetNumber::kBestSize, "best_size"},
     {SubsetNumber::kSufficient, "sufficient"},
     {SubsetNumber::kSynergySize, "synergy_size"},
     {SubsetNumber::kDispensable, "dispensable"},
     {SubsetNumber::kRedundantPairs, "redundant_pairs"},
     {SubsetNumber::kComplementaryPairs, "complementary_pairs"}}};

/// The numbers of one value of heads, from the means over samples of every subset's value.
struct ValueSubsets {
  std::array<double, kNamesOf<SubsetNumber>.size()> numbers = {};

  double& operator[](SubsetNumber number) { return numbers[static_cast<std::size_t>(number)]; }
  double operator[](SubsetNumber number) const { return numbers[static_cast<std::size_t>(number)]; }
  /// The best head is not the best subset.
  bool synergy() const { return (*this)[SubsetNumber::kSynergySize] > 0.0; }
};

/// A layer's subsets, by the exact convention.
struct LayerSubsets {
  ValueSubsets fidelity;
  ValueSubsets speed;

  ValueSubsets& operator[](HeadValue value) {
    return value == HeadValue::kFidelity ? fidelity : speed;
  }
  const ValueSubsets& operator[](HeadValue value) const {
    return value == HeadValue::kFidelity ? fidelity : speed;
  }
};

}  // namespace synergraph
#pragma GCC visibility pop
