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
  double* peak = nullptr;      ///< n: of signals so far
  double* before = nullptr;    ///< n: survivals one step ago
  double* sum = nullptr;       ///< n: of survivals so far
  double* hitting = nullptr;   ///< n: untruncated hitting times
  double* exchange = nullptr;  ///< kExchange

  static constexpr int kStates = kMostNodes + 8;  // a whole number of chunks is read
  static constexpr int kExchange = 8;
  static constexpr int kVectors = 8 * kMostNodes + kExchange + 2 * kStates;
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
    memory.peak = memory.vector + kMostNodes;
    memory.before = memory.peak + kMostNodes;
    memory.sum = memory.before + kMostNodes;
    memory.hitting = memory.sum + kMostNodes;
    memory.exchange = memory.hitting + kMostNodes;
    memory.matrix = memory.exchange + kExchange;
    memory.second = memory.matrix + (triangle_of(nodes) + 1) / 2 * 2;
    return memory;
  }
};

/// A row of a sequence as it was given: what the lanes of a group have of it.
template <class Team>
struct GivenRow {
  double entry[Team::kEntries];  ///< of this lane: columns lane, lane + lanes, ...
  double padding = 0.0;          ///< of this lane: weight of keys before the sequence
  double sum = 0.0;              ///< over the kept keys
  bool bad = false;              ///< of this lane

  /// Reads row i of elements of type T. Nothing waits for what is read.
  template <class T>
  SYNERGRAPH_HD_INLINE void read(Team& team, const Attention& attention, const Job& job, int head,
                                 int i);
  /// Adds up what was read.
  SYNERGRAPH_HD_INLINE void check(Team& team, const Attention& attention, const Job& job, int i);
};

template <class Team>
template <class T>
SYNERGRAPH_HD_INLINE void GivenRow<Team>::read(Team& team, const Attention& attention,
                                               const Job& job, int head, int i) {
  const char* row = static_cast<const char*>(attention.data) + job.sample * attention.sample +
                    head * attention.head + (job.begin + i) * attention.query;
  const auto at = [&](int key) { return team.template load<T>(row + key * attention.key); };
  // Padding may hold anything: what is no share of a row counts as zero.
  const auto share_at = [&](int key) {
    const double x = at(key);
    return x >= 0.0 && x < 2.0 ? x : 0.0;
  };
  padding = 0.0;
  bad = false;
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    entry[m] = j < job.nodes ? at(job.begin + j) : 0.0;
  }
  for (int key = team.lane(); key < job.begin; key += team.lanes()) padding += share_at(key);
  for (int key = job.begin + job.nodes + team.lane(); key < attention.tokens; key += team.lanes())
    bad |= share_at(key) > attention.causal_tolerance;
}

template <class Team>
SYNERGRAPH_HD_INLINE void GivenRow<Team>::check(Team& team, const Attention& attention,
                                                const Job& job, int i) {
  const double ahead = attention.causal_tolerance;
  double part[4] = {};  // few roundings
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    const double x = entry[m];
    if (j <= i) {
      part[m % 4] += x;
      bad |= !(x >= 0.0 && x <= 1e300);
    } else {
      bad |= !(x <= ahead && x >= -ahead);
    }
  }
  sum = team.lane_sum((part[0] + part[1]) + (part[2] + part[3]));
  const double whole = job.begin > 0 ? sum + team.lane_sum(padding) : sum;
  bad |= !(whole - 1.0 <= attention.row_tolerance && 1.0 - whole <= attention.row_tolerance) ||
         !(sum > 0.0);
}

/// Calls visit(i, share of entry m of this lane in its row) for the rows of a head. Returns whether
/// this thread saw attention that is refused.
template <class T, class Team, class Visit>
SYNERGRAPH_HD_INLINE bool visit_rows(Team& team, const Attention& attention, const Job& job,
                                     int head, Visit visit) {
  constexpr int kTogether = 4;  // rows that are read at a time: memory is far
  bool bad = false;
  for (int first = team.group(); first < job.nodes; first += kTogether * team.groups()) {
    GivenRow<Team> row[kTogether];
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      const int i = first + k * team.groups();
      if (i < job.nodes) row[k].template read<T>(team, attention, job, head, i);
    }
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      const int i = first + k * team.groups();
      if (i >= job.nodes) continue;
      row[k].check(team, attention, job, i);
      bad |= row[k].bad;
      SYNERGRAPH_UNROLL
      for (int m = 0; m < Team::kEntries; ++m) {
        const int j = team.lane() + m * team.lanes();
        if (j <= i) visit(triangle_of(i) + j, row[k].entry[m] / row[k].sum);
      }
    }
  }
  return bad;
}

/// Calls use(an element of the attention's type).
template <class Use>
SYNERGRAPH_HD_INLINE bool with_type(FloatType type, Use use) {
  switch (type) {
    case FloatType::kFloat16:
      return use(Float16{});
    case FloatType::kBFloat16:
      return use(BFloat16{});
    case FloatType::kFloat32:
      return use(float{});
    default:
      return use(double{});
  }
}

/// The diffusion of one head, times a weight. Returns whether this thread saw attention that is
/// refused.
template <class Team>
SYNERGRAPH_HD_INLINE bool load_head(Team& team, const Attention& attention, const Job& job,
                                    int head, double weight, double* matrix) {
  return with_type(attention.type, [&](auto element) {
    return visit_rows<decltype(element)>(team, attention, job, head, [&](int place, double share) {
      matrix[place] = weight * share;
    });
  });
}

/// Row i of the diffusion of all heads together: the weighted mean, each entry rounded once.
template <class T, class Team>
SYNERGRAPH_HD_INLINE bool load_combined_row(Team& team, const Attention& attention, const Job& job,
                                            const double* weights, const ExactSum& all, int i,
                                            double* matrix) {
  constexpr int kTogether = 4;  // heads that are read at a time
  bool bad = false;
  ExactSum entry[Team::kEntries];
  for (int first = 0; first < attention.heads; first += kTogether) {
    GivenRow<Team> row[kTogether];
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k)
      if (first + k < attention.heads) row[k].template read<T>(team, attention, job, first + k, i);
    SYNERGRAPH_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      if (first + k >= attention.heads) continue;
      row[k].check(team, attention, job, i);
      bad |= row[k].bad;
      const double weight = weights[first + k];
      if (!(weight > 0.0)) continue;
      SYNERGRAPH_UNROLL
      for (int m = 0; m < Team::kEntries; ++m) entry[m].add(row[k].entry[m] / row[k].sum, weight);
    }
  }
  SYNERGRAPH_UNROLL
  for (int m = 0; m < Team::kEntries; ++m) {
    const int j = team.lane() + m * team.lanes();
    if (j <= i) matrix[triangle_of(i) + j] = entry[m].over(all);
  }
  return bad;
}

/// The diffusion of all heads together.
template <class Team>
SYNERGRAPH_HD_INLINE bool load_combined(Team& team, const Attention& attention, const Job& job,
                                        const double* weights, double* matrix) {
  ExactSum all;
  for (int h = 0; h < attention.heads; ++h)
    if (weights[h] > 0.0) all.add(1.0, weights[h]);
  return with_type(attention.type, [&](auto element) {
    bool bad = false;
    for (int i = team.group(); i < job.nodes; i += team.groups())
      bad |= load_combined_row<decltype(element)>(team, attention, job, weights, all, i, matrix);
    return bad;
  });
}

}  // namespace synergraph::small
