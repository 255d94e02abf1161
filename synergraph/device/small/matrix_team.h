#pragma once

#include "synergraph/core/host_device.h"
#include "synergraph/device/small/exact_sum.h"
#include "synergraph/device/small/layout.h"

// How a team of threads brings one matrix into its memory. A lower triangle is packed: row i begins
// at triangle_of(i). A group of lanes reads a row, so that neighbours in memory are read together;
// packed, both rows and columns lie in different banks.

namespace synergraph::small {

/// The memory that a team shares.
struct Memory {
  double* matrix = nullptr;    ///< packed
  double* second = nullptr;    ///< packed, for WalkOf::kHeadWalks alone
  Pair* state = nullptr;       ///< kStates
  double* down = nullptr;      ///< n: what rows give to tokens before
  double* mass = nullptr;      ///< n: what columns give, in any units
  double* forward = nullptr;   ///< n: the same beyond the diagonal
  double* vector = nullptr;    ///< n: probabilities of passing
  double* exchange = nullptr;  ///< 2

  static constexpr int kStates = kMostNodes + 8;  // a whole number of chunks is read
  static constexpr int kVectors = 4 * kMostNodes + 2 + 2 * kStates;
  /// Doubles that a team needs for matrices of n nodes.
  static constexpr int doubles(int nodes, bool two_matrices) {
    return kVectors + (two_matrices ? 2 : 1) * ((triangle_of(nodes) + 1) / 2 * 2);
  }
  SYNERGRAPH_HD_INLINE static Memory at(double* begin, int nodes) {
    Memory memory;
    memory.state = reinterpret_cast<Pair*>(begin);
    memory.down = begin + 2 * kStates;
    memory.mass = memory.down + kMostNodes;
    memory.forward = memory.mass + kMostNodes;
    memory.vector = memory.forward + kMostNodes;
    memory.exchange = memory.vector + kMostNodes;
    memory.matrix = memory.exchange + 2;
    memory.second = memory.matrix + (triangle_of(nodes) + 1) / 2 * 2;
    return memory;
  }
};

/// Row i of a sequence as it was given: what the lanes of a group have of it.
template <class Team>
struct GivenRow {
  double entry[Team::kEntries];  ///< of this lane: columns lane, lane + lanes, ...
  double sum = 0.0;              ///< over the kept keys
  bool bad = false;              ///< of this lane

  SYNERGRAPH_HD_INLINE void read(Team& team, const Attention& attention, const Job& job, int head,
                                 int i);
};

template <class Team>
SYNERGRAPH_HD_INLINE void GivenRow<Team>::read(Team& team, const Attention& attention,
                                               const Job& job, int head, int i) {
  const char* row = static_cast<const char*>(attention.data) + job.sample * attention.sample +
                    head * attention.head + (job.begin + i) * attention.query;
  const auto at = [&](int key) { return team.load(row + key * attention.key, attention.type); };
  // Padding may hold anything: what is no share of a row counts as zero.
  const auto share_at = [&](int key) {
    const double x = at(key);
    return x >= 0.0 && x < 2.0 ? x : 0.0;
  };
  const double ahead = attention.causal_tolerance;
  double part[4] = {};  // few roundings
  bad = false;
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    entry[m] = 0.0;
    if (j >= job.nodes) continue;
    const double x = at(job.begin + j);
    if (j <= i) {
      entry[m] = x;
      part[m % 4] += x;
      bad |= !(x >= 0.0 && x <= 1e300);
    } else {
      bad |= !(x <= ahead && x >= -ahead);
    }
  }
  double before = 0.0;
  for (int key = team.lane(); key < job.begin; key += team.lanes()) before += share_at(key);
  for (int key = job.begin + job.nodes + team.lane(); key < attention.tokens; key += team.lanes())
    bad |= share_at(key) > ahead;
  sum = team.lane_sum((part[0] + part[1]) + (part[2] + part[3]));
  const double whole = job.begin > 0 ? sum + team.lane_sum(before) : sum;
  bad |= !(whole - 1.0 <= attention.row_tolerance && 1.0 - whole <= attention.row_tolerance) ||
         !(sum > 0.0);
}

/// The diffusion of one head. Returns whether this thread saw attention that is refused.
template <class Team>
SYNERGRAPH_HD_INLINE bool load_head(Team& team, const Attention& attention, const Job& job,
                                    int head, double* matrix) {
  bool bad = false;
  for (int i = team.group(); i < job.nodes; i += team.groups()) {
    GivenRow<Team> row;
    row.read(team, attention, job, head, i);
    bad |= row.bad;
    SYNERGRAPH_UNROLL
    for (int m = 0; m < Team::kEntries; ++m) {
      const int j = team.lane() + m * team.lanes();
      if (j <= i) matrix[triangle_of(i) + j] = row.entry[m] / row.sum;
    }
  }
  return bad;
}

/// The diffusion of all heads together: the weighted mean, each entry rounded once.
template <class Team>
SYNERGRAPH_HD_INLINE bool load_combined(Team& team, const Attention& attention, const Job& job,
                                        const double* weights, double* matrix) {
  ExactSum all;
  for (int h = 0; h < attention.heads; ++h)
    if (weights[h] > 0.0) all.add(1.0, weights[h]);
  bool bad = false;
  for (int i = team.group(); i < job.nodes; i += team.groups()) {
    ExactSum entry[Team::kEntries];
    for (int h = 0; h < attention.heads; ++h) {
      GivenRow<Team> row;
      row.read(team, attention, job, h, i);
      bad |= row.bad;
      if (!(weights[h] > 0.0)) continue;
      SYNERGRAPH_UNROLL
      for (int m = 0; m < Team::kEntries; ++m) entry[m].add(row.entry[m] / row.sum, weights[h]);
    }
    SYNERGRAPH_UNROLL
    for (int m = 0; m < Team::kEntries; ++m) {
      const int j = team.lane() + m * team.lanes();
      if (j <= i) matrix[triangle_of(i) + j] = entry[m].over(all);
    }
  }
  return bad;
}

}  // namespace synergraph::small
