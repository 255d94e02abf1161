#pragma once

#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// T_mix(eps) = min{ t : max_j s_t[j] <= eps } (theory: "Mixing time") for every eps, in order:
/// the exact integer below 1e6, relative precision 1e-9 beyond, infinity where the sink is out of
/// reach. Short times are found by stepping; long ones by repeated squaring and bisection, 10^12
/// steps in about 40 squarings. Every eps must be positive.
///
/// A survival within 1e-13 (relative) of eps counts as having reached it: that is the rounding of
/// the sums, and it makes ties such as s_t = 1/4 come out as on paper. Above eps = 1/2 the same is
/// asked of the arrival, 1 - s_t against 1 - eps, which keeps its digits however near 1 eps is.
std::vector<double> mixing_times(const Walk& walk, const std::vector<double>& eps,
                                 const Execution& execution = {});

/// One of them.
double mixing_time(const Walk& walk, double eps = 0.25, const Execution& execution = {});

/// Everything about the speed of one walk, from one pass.
struct WalkSummary {
  HittingTimes hitting;        ///< untruncated
  HittingTimes truncated;      ///< cut at WalkOptions::cutoff
  std::vector<double> mixing;  ///< T_mix for each WalkOptions::eps
};

struct WalkOptions {
  std::vector<double> eps = {0.25};  ///< thresholds of T_mix
  std::int64_t cutoff = 100;         ///< of the truncated hitting times
  /// Steps taken one by one before squaring begins; -1: where that pays, by the number of nodes.
  std::int64_t stepping = -1;
};

/// The threads and the memory are for the squarings of slow walks: powers of the walk that the
/// memory cannot hold, beside two of them, are squared again. The default holds all that 4096 nodes
/// need.
WalkSummary summarise_walk(const Walk& walk, const WalkOptions& options = {},
                           const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
