#pragma once

#include "synergraph/chain/truncation_rules.h"
#include "synergraph/core/host_device.h"
#include "synergraph/device/small/solves.h"
#include "synergraph/diffusion/peak_rules.h"

// Looks at what is decided after some steps. One group of lanes looks at the signal, another one at
// the survivals, and the others wait. The threads of the nodes have put their numbers into shared
// memory before.

namespace synergraph::small {

/// What the signal decides.
struct SignalLook {
  int weakest = 0;     ///< the first node whose fidelity so far is the smallest
  bool final = false;  ///< it can change no more
};

/// A lower bound of node j's fidelity. All of a signal that is certified ends at node 0.
SYNERGRAPH_HD_INLINE double lower_bound(const Memory& memory, int j, bool fixed) {
  return j == 0 && !fixed ? 1.0 : memory.peak[j];
}

/// The first of the chosen nodes whose fidelity so far is, within rounding, the smallest.
template <class Team>
SYNERGRAPH_HD_INLINE int find_weakest(Team& team, const Memory& memory, const Job& job,
                                      bool fixed) {
  double bound[Team::kEntries];
  double least = INFINITY;
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    const bool chosen =
        j < job.nodes && ((job.chosen[j / 32] >> static_cast<unsigned>(j % 32)) & 1U) != 0;
    bound[m] = chosen ? lower_bound(memory, j, fixed) : INFINITY;
    least = bound[m] < least ? bound[m] : least;
  }
  least = -team.lane_max(-least);
  int first = kMostNodes;
  SYNERGRAPH_UNROLL
  for (int m = Team::kEntries - 1; m >= 0; --m)
    if (bound[m] < INFINITY && peak_rules::is_smallest(bound[m], least))
      first = team.lane() + m * team.lanes();
  return team.lane_least(first);
}

/// Can the weakest node's peak change no more? See FidelityTracker::certify(). `passed_to` is the
/// node whose probabilities of passing are in memory.vector.
template <class Team>
SYNERGRAPH_HD_INLINE SignalLook look_at_signal(Team& team, const Memory& memory, const Job& job,
                                               std::int64_t horizon, int time, int& passed_to) {
  const bool fixed = horizon > 0;
  SignalLook look;
  look.weakest = find_weakest(team, memory, job, fixed);
  look.final = fixed ? time >= horizon : look.weakest == 0;
  if (look.final) return look;
  const double peak = memory.peak[look.weakest];
  const auto ahead = [&](auto weight) {
    double sum = 0.0;
    SYNERGRAPH_UNROLL
    for (int m = 0; m < Team::kEntries; ++m) {
      const int i = team.lane() + m * team.lanes();
      if (i >= look.weakest && i < job.nodes) sum += memory.state[i].signal * weight(i);
    }
    return team.lane_sum(sum);
  };
  look.final = peak_rules::is_final(ahead([](int) { return 1.0; }), peak);
  if (look.final || time <= peak_rules::kFirstSteps) return look;
  if (passed_to != look.weakest)
    solve_passing(team, memory.matrix, memory.down, look.weakest, job.nodes, memory.vector);
  passed_to = look.weakest;
  // A lane reads what it has written itself.
  look.final = peak_rules::is_final(ahead([&](int i) { return memory.vector[i]; }), peak);
  return look;
}

/// What the survivals decide of the truncated sums.
struct SumLook {
  bool complete = false;  ///< what is left of the sums is known
  bool whole = false;     ///< truncation changes no sum of a moving node
  int active = 0;         ///< nodes from here on have died out
  double factor = 0.0;    ///< survivals shrink by this in each step; 0: none is left
};

/// See TruncatedSum::add_rest().
template <class Team>
SYNERGRAPH_HD_INLINE SumLook look_at_sums(Team& team, const Memory& memory, int nodes,
                                          int first_moving, std::int64_t steps_left) {
  const auto left = static_cast<double>(steps_left);
  int active = 0;
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    if (j < nodes - 1 && !truncation_rules::is_lost(memory.before[j], left * left)) active = j + 1;
  }
  SumLook look;
  look.active = -team.lane_least(-active);
  truncation_rules::Shrinking all;
  truncation_rules::Shrinking every;  // with nodes that have died out
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    if (j < first_moving || j >= nodes - 1 || !(memory.before[j] > 0.0)) continue;
    every.look_at(memory.state[j].survival, memory.before[j], memory.sum[j]);
    if (j < look.active) all.look_at(memory.state[j].survival, memory.before[j], memory.sum[j]);
  }
  all.share = team.lane_max(all.share);
  all.low = -team.lane_max(-all.low);
  all.high = team.lane_max(all.high);
  look.complete = truncation_rules::powers_give_rest(all, left);
  look.factor = all.share > 0.0 ? (all.low + all.high) / 2.0 : 0.0;
  if (look.complete) return look;
  every.share = team.lane_max(every.share);
  every.high = team.lane_max(every.high);
  look.whole = truncation_rules::nothing_is_cut(every, steps_left);
  return look;
}

}  // namespace synergraph::small
