#pragma once

#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns T_mix(eps) = min{ t : max_j s_t[j] <= eps } (theory: "Mixing time") for every eps, in
/// the order of `eps`. Every eps must be positive. Results are exact integers below 1e6, have
/// relative precision 1e-9 beyond, and are infinite where the sink is out of reach. Short times
/// come from stepping. Long times come from repeated squaring and bisection: 10^12 steps take about
/// 40 squarings.
///
/// A survival within 1e-13 (relative) of eps counts as having reached eps. This tolerance covers
/// the rounding of the sums. So ties such as s_t = 1/4 give the same time as on paper. Above eps =
/// 1/2, the arrival 1 - s_t is compared with 1 - eps instead, under the same tolerance. The arrival
/// keeps its digits for every eps near 1.
std::vector<double> mixing_times(const Walk& walk, const std::vector<double>& eps,
                                 const Execution& execution = {});

/// Returns T_mix for a single eps.
double mixing_time(const Walk& walk, double eps = 0.25, const Execution& execution = {});

/// All speed metrics of one walk, from one pass. T_avg = min{ t : mean_j d_t[j] < eps } has the
/// precision of T_mix. It may be finite where T_mix is not: few start nodes may miss the sink.
struct WalkSummary {
  HittingTimes hitting;        ///< untruncated
  HittingTimes truncated;      ///< truncated at WalkOptions::cutoff
  std::vector<double> mixing;  ///< T_mix for each WalkOptions::eps
  /// Bounds of every T_mix where some are not known (NaN in `mixing`), as of slow walks that are
  /// not in memory; otherwise empty.
  std::vector<double> mixing_least = {}, mixing_most = {};
  /// T_avg for each WalkOptions::eps, by the L1 distance and by the total variation (theory:
  /// "Averaged mixing time"). Empty unless WalkOptions::averaged.
  std::vector<double> averaged = {}, averaged_tv = {};
};

struct WalkOptions {
  std::vector<double> eps = {0.25};  ///< thresholds of T_mix
  std::int64_t cutoff = 100;         ///< cutoff for truncated hitting times, in steps
  /// The number of single steps before squaring begins; -1 chooses by the number of nodes.
  std::int64_t stepping = -1;
  bool averaged = false;  ///< also T_avg
};

/// Summarises one walk. Threads and memory serve the squarings of slow walks. The memory always
/// holds two powers of the walk. Further powers that do not fit are squared again. The default
/// memory holds all powers for 4096 nodes.
WalkSummary summarise_walk(const Walk& walk, const WalkOptions& options = {},
                           const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
