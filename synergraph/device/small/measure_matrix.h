#pragma once

#include <cmath>

#include "synergraph/core/safe_range.h"
#include "synergraph/device/small/matrix_powers.h"
#include "synergraph/device/small/matrix_steps.h"
#include "synergraph/device/small/matrix_sums.h"
#include "synergraph/diffusion/peak_rules.h"

// Measures one small matrix, or one job of many.

namespace synergraph::small {

template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::run(bool is_walk, Result& result) {
  enum Pass { kMatrix, kWalk, kPasses };
  if (team_.rank() == 0) memory_.exchange[1] = NAN;
  const bool side_by_side = task_.walk == WalkOf::kColumns;
  SYNERGRAPH_NO_UNROLL
  for (int pass = is_walk ? kWalk : kMatrix; pass < kPasses; ++pass) {
    const bool signal = pass == kMatrix && task_.signal && powers_ == nullptr;
    const bool survival = pass == kWalk || side_by_side;
    if (pass == kMatrix) {
      sum_rows_and_columns();
    } else if (!is_walk) {
      if (task_.walk != WalkOf::kPublished) break;
      cut_columns();
    }
    team_.sync();
    int undecided = 0;
    if (signal) undecided |= check_signal();
    if (survival) undecided |= set_walk(pass == kMatrix);
    undecided = team_.either(undecided);
    if (undecided == 0 && survival && powers_ != nullptr) return square(result);
    if (undecided == 0 && survival) undecided = measure_hitting(result);
    if (undecided == 0 && (signal || survival)) undecided = walk_on(signal, survival);
    if (undecided == 0 && signal) undecided = take_signal(result);
    if (undecided != 0) return undecided;
    if (whole_) take_whole_sums();
    if (survival) take_walk(result);
    team_.sync();
  }
  if (team_.rank() == 0) result.signal = memory_.exchange[1];
  return 0;
}

/// The convex sum of the walks of all heads, packed like a matrix whose columns they are; `forward`
/// gets the chances to leave. Returns what is undecided, as this thread sees it.
template <class Team>
SYNERGRAPH_HD_INLINE int load_head_walks(Team& team, const Attention& attention, const Job& job,
                                         const double* weights, const Memory& memory) {
  const int n = job.nodes;
  int trouble = 0;
  const auto each = [&](auto visit) {
    for (int j = team.rank(); j < n; j += team.size()) visit(j);
  };
  for (int e = team.rank(); e < triangle_of(n); e += team.size()) memory.matrix[e] = 0.0;
  each([&](int j) {
    memory.forward[j] = 0.0;
    memory.mass[j] = 1.0;
  });
  for (int h = 0; h < attention.heads; ++h) {
    if (load_head(team, attention, job, h, 1.0, memory.second)) trouble |= kBadAttention;
    team.sync();
    each([&](int j) {
      const double forward =
          sum_of(n - 1 - j, [&](int k) { return memory.second[triangle_of(n - 1 - k) + j]; });
      const double mass = forward + memory.second[triangle_of(j) + j];
      const bool moves = j < n - 1 && forward > 0.0;
      if (moves && !in_safe_range(mass)) trouble |= kOutOfRange;
      if (!moves) memory.matrix[triangle_of(j) + j] += weights[h];
      if (!moves) return;
      const double scale = weights[h] / mass;
      for (int i = j; i < n; ++i)
        memory.matrix[triangle_of(i) + j] += scale * memory.second[triangle_of(i) + j];
      memory.forward[j] += scale * forward;
    });
    team.sync();
  }
  return trouble;
}

/// Measures one job of the work. With room for powers it finds T_mix by squaring, of a job that was
/// measured before.
template <class Team>
SYNERGRAPH_HD_INLINE void measure_job(Team& team, const Work& work, int index, double* shared,
                                      double* powers) {
  const Job& job = work.jobs[index];
  const Task& task = work.tasks[job.task];
  Result& result = work.results[index];
  const Memory memory = Memory::at(shared, job.nodes);
  const double* weights = work.weights + job.weights;
  MatrixMeasurement<Team> measurement(team, memory, task, job);
  int undecided = 0;
  if (powers == nullptr && team.rank() == 0) result = Result{};
  measurement.square_in(powers);
  if (task.walk == WalkOf::kHeadWalks) {
    undecided = team.either(load_head_walks(team, work.attention, job, weights, memory));

  } else {
    const bool bad = job.head < 0
                         ? load_combined(team, work.attention, job, weights, memory.matrix)
                         : load_head(team, work.attention, job, job.head, 1.0, memory.matrix);
    if (job.combined >= 0) {
      const Result& combined = work.results[job.combined];
      if (combined.undecided == 0 &&
          combined.minimax_time <= static_cast<double>(peak_rules::steps_before_powers(job.nodes)))
        measurement.follow(combined.minimax_node, static_cast<int>(combined.minimax_time));
    }
    undecided = team.either(bad ? kBadAttention : 0);
  }
  if (undecided == 0) undecided = measurement.run(task.walk == WalkOf::kHeadWalks, result);
  if (team.rank() == 0) result.undecided = undecided;
}

}  // namespace synergraph::small
