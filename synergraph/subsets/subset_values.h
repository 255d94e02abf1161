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

/// The values of all subsets: entry S is the value of the heads whose bits are set in S.
struct SubsetValues {
  int heads = 0;
  std::vector<double> fidelity;   ///< 2^heads entries; empty unless requested
  std::vector<double> speed;      ///< 2^heads entries; empty unless requested
  double fidelity_gap = 0.0;      ///< largest distance of a true fidelity above its entry
  std::uint64_t uncertified = 0;  ///< number of fidelities that are not certified: intervals
};

/// Computes the values of all subsets of the heads of one system. Each subset renormalises the
/// weights of its heads; its value is 0 where all weights are 0.
///
/// The function adds heads in their order along a tree of subsets and never subtracts. A subset
/// costs one addition, no digit is lost, and the bytes are equal for any number of threads and any
/// memory.
///
/// Throws InputError for more than kMaxExactHeads heads, for weights and options that measure()
/// refuses, and where no value is requested. Throws Stopped when asked to stop.
SubsetValues subset_values(HeadSource& heads, std::span<const double> weights,
                           const SubsetOptions& options = {});

/// Computes the values for one sample of attention in memory, with the checks of measure(). Empty
/// weights mean equal weights.
SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                           std::span<const double> weights, const SubsetOptions& options = {});

class HeadSums;

/// Computes the values of any subset of any number of heads. The heads are held in memory. The
/// object is const and thread safe.
class HeadSubsets {
 public:
  /// Throws InputError for weights and options that subset_values() refuses.
  HeadSubsets(HeadSource& heads, std::span<const double> weights,
              const SubsetOptions& options = {});

  int heads() const;
  /// Returns the value of the heads `heads`, added up in the given order. Throws InputError unless
  /// every head exists and appears only once.
  SubsetValue value(std::span<const int> heads) const;
  /// Returns the values of the first `begin`, begin + step, begin + 2 step, ... heads of `order`,
  /// up to all of them. Each head costs one addition.
  std::vector<SubsetValue> prefix_values(std::span<const int> order, int begin = 0,
                                         int step = 1) const;

 private:
  void check_heads(std::span<const int> list) const;

  std::shared_ptr<const HeadSums> sums_;
  Execution execution_;  // for computing each value
};

}  // namespace synergraph
#pragma GCC visibility pop
