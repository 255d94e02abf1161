#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/measure.h"
#include "synergraph/subsets/subset_options.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The values of all subsets: entry S is that of the heads whose bits are set in S.
struct SubsetValues {
  int heads = 0;
  std::vector<double> fidelity;   ///< 2^heads; empty if it was not asked for
  std::vector<double> speed;      ///< the same
  double fidelity_gap = 0.0;      ///< no fidelity is further than this above its number
  std::uint64_t uncertified = 0;  ///< fidelities that are not certified: intervals
};

/// The values of all subsets of the heads of one system, their weights renormalised in each; 0
/// where these are all 0. Sums of heads are only ever added to, in the order of the heads, along a
/// tree of subsets: one addition a subset, no digit lost, and the same bytes for any threads and
/// memory. InputError for more than kMaxExactHeads heads, for weights and options that measure()
/// would not take, and where nothing is asked for. Stopped if asked to stop.
SubsetValues subset_values(HeadSource& heads, std::span<const double> weights,
                           const SubsetOptions& options = {});

/// The same for one sample of attention in memory, checked as measure() checks it. No weights:
/// equal ones.
SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                           std::span<const double> weights, const SubsetOptions& options = {});

class HeadSums;

/// The values of any subset of any number of heads, which are held in memory. Const and thread
/// safe.
class HeadSubsets {
 public:
  /// InputError as for subset_values().
  HeadSubsets(HeadSource& heads, std::span<const double> weights,
              const SubsetOptions& options = {});

  int heads() const;
  /// The value of some heads, in the order in which they are added up. InputError unless they are
  /// there, and each but once.
  SubsetValue value(std::span<const int> heads) const;
  /// The values of the first `begin`, begin + step, begin + 2 step, ... of these heads, up to all
  /// of them: one addition a head.
  std::vector<SubsetValue> prefix_values(std::span<const int> order, int begin = 0,
                                         int step = 1) const;

 private:
  void check_heads(std::span<const int> list) const;

  std::shared_ptr<const HeadSums> sums_;
  Execution execution_;  // of each value
};

}  // namespace synergraph
#pragma GCC visibility pop
