#pragma once

#include <cmath>

#include "synergraph/core/host_device.h"
#include "synergraph/device/small/layout.h"
#include "synergraph/device/small/matrix_team.h"

// Measures one small matrix. It stays in the memory of a team of threads through all steps. Two
// states walk side by side through it: the signal, r_{t+1}[j] = sum_i a(i, j) r_t[i], and the
// survivals of the columns' walk, s_{t+1}[j] = (sum_i a(i, j) s_t[i]) / mass[j]. Each node belongs
// to one thread, which keeps its peak, its sum and its crossings. A team is a block of threads of a
// GPU, or one thread of the host.

namespace synergraph::small {

/// What a thread keeps of a node that belongs to it.
struct Node {
  double signal = 0.0;
  double peak = 0.0;
  double timed = 0.0;  ///< the signal at `time`
  double survival = 0.0;
  double before = 0.0;  ///< the survival one step ago
  double sum = 0.0;     ///< of survivals
  double scale = 0.0;   ///< 1 / mass; 0 where the walk stays
  int time = 1;
  int crossed[kMostEps] = {};  ///< 0: not yet
};

/// Four sums side by side: they wait less, and round less.
template <class At>
SYNERGRAPH_HD_INLINE double sum_of(int count, At at) {
  double part[4] = {};
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    SYNERGRAPH_UNROLL
    for (int p = 0; p < 4; ++p) part[p] += at(k + p);
  }
  for (; k < count; ++k) part[0] += at(k);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

template <class Team>
class MatrixMeasurement {
 public:
  SYNERGRAPH_HD_INLINE MatrixMeasurement(Team& team, const Memory& memory, const Task& task,
                                         const Job& job)
      : team_(team), memory_(memory), task_(task), job_(job), n_(job.nodes) {}

  /// Finds T_mix by squaring and nothing else, with room for kMostPowers powers, packed. Null:
  /// measures by single steps.
  SYNERGRAPH_HD_INLINE void square_in(double* powers) { powers_ = powers; }

  /// Follows this node's signal until this time, too.
  SYNERGRAPH_HD_INLINE void follow(int node, int time) {
    followed_node_ = node;
    followed_time_ = time;
  }
  /// Measures the matrix in memory, or the walk that is there itself, with `forward` and `mass`
  /// set. Returns what is undecided.
  SYNERGRAPH_HD_INLINE int run(bool is_walk, Result& result);

 private:
  /// Calls visit(j, node) for the nodes of this thread.
  template <class Visit>
  SYNERGRAPH_HD_INLINE void each(Visit visit) {
    SYNERGRAPH_UNROLL
    for (int k = 0; k < Team::kNodes; ++k) {
      const int j = team_.rank() + k * team_.size();
      if (j < n_) visit(j, nodes_[k]);
    }
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double least(Get get) {
    double found = INFINITY;
    each([&](int j, Node& node) {
      const double x = get(j, node);
      found = x < found ? x : found;
    });
    return -team_.max(-found);
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double most(Get get) {
    return -least([&](int j, Node& node) { return -get(j, node); });
  }
  template <class Get>
  SYNERGRAPH_HD_INLINE double total(Get get) {
    double sum = 0.0;
    each([&](int j, Node& node) { sum += get(j, node); });
    return team_.sum(sum);
  }
  /// What node j's thread has, in all threads.
  template <class Get>
  SYNERGRAPH_HD_INLINE double of(int wanted, Get get) {
    each([&](int j, Node& node) {
      if (j == wanted) memory_.exchange[0] = get(node);
    });
    team_.sync();
    const double found = memory_.exchange[0];
    team_.sync();
    return found;
  }

  SYNERGRAPH_HD_INLINE int sink() const { return n_ - 1; }
  SYNERGRAPH_HD_INLINE bool fixed() const { return task_.horizon > 0; }

  SYNERGRAPH_HD_INLINE void sum_rows_and_columns();
  SYNERGRAPH_HD_INLINE int check_signal();
  SYNERGRAPH_HD_INLINE int set_walk(bool in_columns);
  SYNERGRAPH_HD_INLINE void cut_columns();
  SYNERGRAPH_HD_INLINE int measure_hitting(Result& result);
  SYNERGRAPH_HD_INLINE void start();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE void step();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE void steps();
  template <bool kSignal, bool kSurvival>
  SYNERGRAPH_HD_INLINE int steps_to_look() const;
  SYNERGRAPH_HD_INLINE int walk_on(bool signal, bool survival);
  SYNERGRAPH_HD_INLINE int take_signal(Result& result);
  SYNERGRAPH_HD_INLINE void look(bool at_signal, bool at_survival);
  SYNERGRAPH_HD_INLINE void add_rest(int active, double factor);
  SYNERGRAPH_HD_INLINE void take_whole_sums();
  SYNERGRAPH_HD_INLINE void take_walk(Result& result);
  SYNERGRAPH_HD_INLINE void make_walk();
  SYNERGRAPH_HD_INLINE void finish_square(const double* before, double* power);
  SYNERGRAPH_HD_INLINE double take_survivals(const double* power);
  SYNERGRAPH_HD_INLINE int square(Result& result);
  SYNERGRAPH_HD_INLINE double bisect(int level, double threshold);
  SYNERGRAPH_HD_INLINE void load_power(int level);
  SYNERGRAPH_HD_INLINE double* power_at(int level) const {
    return powers_ + static_cast<std::ptrdiff_t>(level) * triangle_of(n_);
  }

  Team& team_;
  const Memory& memory_;
  const Task& task_;
  const Job& job_;
  int n_;
  Node nodes_[Team::kNodes];
  int time_ = 0;
  int weakest_ = -1;
  int passed_to_ = -1;
  int first_moving_ = 0;
  int followed_node_ = -1;
  int followed_time_ = 0;
  bool never_ = false;  // the sink is out of reach of a node
  bool slow_ = false;   // T_mix is for squaring
  double* powers_ = nullptr;
  bool summed_ = false;   // the truncated sums are known
  bool whole_ = false;    // they are the hitting times
  bool crossed_ = false;  // T_mix is known, or for squaring
  bool final_ = false;    // the minimax is
};

}  // namespace synergraph::small
