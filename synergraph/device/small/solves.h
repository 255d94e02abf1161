#pragma once

#include "synergraph/core/host_device.h"
#include "synergraph/device/small/matrix_team.h"

// Triangular solves by one group of lanes: a node's number is finished by the lane that holds it,
// told to all lanes, and added at once to the sums of all nodes that need it. What limits a solve
// is this chain of nodes, one after the other; other teams of the multiprocessor work meanwhile.

namespace synergraph::small {

/// Untruncated hitting times of the walk P(j, i) = a(i, j) / mass[j], whose node j is left with
/// forward[j] / mass[j].
struct Hitting {
  double sum = 0.0;
  double max = 0.0;
  int worst = 0;
  bool overflow = false;
};

/// By back substitution from the sink, without a subtraction: h_j = (mass[j] + sum over i > j of
/// a(i, j) h_i) / forward[j]. A node that cannot reach the sink takes infinitely long, and so does
/// every node that may step to one of them; they enter no sum. The result is the same in all lanes.
/// The finite times go to `times`.
template <class Team>
SYNERGRAPH_HD_INLINE Hitting solve_hitting(Team& team, const double* matrix, const double* mass,
                                           const double* forward, int nodes, double* times) {
  constexpr double kNever = -1.0;
  double sum[Team::kEntries];
  double time[Team::kEntries];
  bool never[Team::kEntries];
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    const bool is_source = j < nodes - 1;
    never[m] = is_source && !(forward[j] > 0.0);
    sum[m] = is_source ? mass[j] : 0.0;
    time[m] = is_source && !never[m] ? 1.0 / forward[j] : 0.0;  // first the factor
  }
  SYNERGRAPH_UNROLL
  for (int m = Team::kEntries - 1; m >= 0; --m) {
    for (int l = team.lanes() - 1; l >= 0; --l) {
      const int i = l + m * team.lanes();
      if (i >= nodes - 1) continue;
      const double* row = matrix + triangle_of(i);
      double entry[Team::kEntries];  // read while the node before is finished
      SYNERGRAPH_UNROLL
      for (int k = 0; k <= m; ++k) {
        const int j = team.lane() + k * team.lanes();
        entry[k] = j < i ? row[j] : 0.0;
      }
      if (team.lane() == l) time[m] = never[m] ? kNever : sum[m] * time[m];
      const double found = team.lane_broadcast(time[m], l);
      const bool is_never = found == kNever;
      const double added = is_never ? 0.0 : found;
      SYNERGRAPH_UNROLL
      for (int k = 0; k <= m; ++k) {  // the sums of nodes from i on are done with
        never[k] = never[k] || (is_never && entry[k] > 0.0);
        sum[k] += entry[k] * added;
      }
    }
  }
  Hitting result;
  double lowest = nodes;  // the first node of the largest time
  bool any_never = false;
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    if (j >= nodes - 1) continue;
    any_never = any_never || never[m];
    if (never[m]) continue;
    times[j] = time[m];
    result.sum += time[m];
    result.max = time[m] > result.max ? time[m] : result.max;
    result.overflow = result.overflow || !(time[m] <= 1.7e308);
  }
  result.overflow = team.lane_any(result.overflow);
  any_never = team.lane_any(any_never);
  result.sum = team.lane_sum(result.sum);
  result.max = team.lane_max(result.max);
  if (any_never) result.sum = result.max = INFINITY;
  SYNERGRAPH_UNROLL
  for (int m = Team::kEntries - 1; m >= 0; --m) {
    const int j = team.lane() + m * team.lanes();
    if (j < nodes - 1 && (any_never ? never[m] : time[m] == result.max)) lowest = j;
  }
  result.worst = static_cast<int>(-team.lane_max(-lowest));
  return result;
}

/// The probability of ever being passed on to `target` from every node, as
/// passing_probability() has it: down[i] passing[i] = sum over k < i of a(i, k) passing[k].
template <class Team>
SYNERGRAPH_HD_INLINE void solve_passing(Team& team, const double* matrix, const double* down,
                                        int target, int nodes, double* passing) {
  double sum[Team::kEntries];
  double factor[Team::kEntries];
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int i = team.lane() + m * team.lanes();
    sum[m] = i == target ? 1.0 : 0.0;
    factor[m] = i == target ? 1.0 : i > target && i < nodes && down[i] > 0.0 ? 1.0 / down[i] : 0.0;
  }
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    for (int l = 0; l < team.lanes(); ++l) {
      const int k = l + m * team.lanes();
      if (k < target || k >= nodes) continue;
      const double found = team.lane_broadcast(sum[m] * factor[m], l);
      if (team.lane() == l) passing[k] = found;
      SYNERGRAPH_UNROLL
      for (int p = m; p < Team::kEntries; ++p) {
        const int i = team.lane() + p * team.lanes();
        if (i > k && i < nodes) sum[p] += matrix[triangle_of(i) + k] * found;
      }
    }
  }
}

}  // namespace synergraph::small
