#include "synergraph/weights/weight_objective.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/chain/hitting.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/weights/weight_gradient.h"

namespace synergraph {
namespace {

// Nodes up to so much above the weakest are taken into the model of a fidelity, but no more than
// so many for each head.
constexpr double kNearlyWeakest = 1.05;
constexpr int kNodesPerHead = 2;

/// Sum of the products of what two matrices have above the diagonal.
double product_above(ConstMatrixView a, const Matrix& b) {
  double sum = 0.0;
  for (int j = 0; j + 1 < b.rows(); ++j)
    sum += dot(a.row(j) + j + 1, b.row(j) + j + 1, b.cols() - j - 1);
  return sum;
}

/// The same with the diagonal.
double product_from_diagonal(ConstMatrixView a, const Matrix& b) {
  double sum = 0.0;
  for (int j = 0; j < b.rows(); ++j) sum += dot(a.row(j) + j, b.row(j) + j, b.cols() - j);
  return sum;
}

/// From derivatives by the walk's rows to those by the pooled attention's columns.
void undo_pooling(ConstMatrixView columns, const Walk& walk, Matrix& adjoint) {
  const int n = adjoint.rows();
  for (int j = 0; j < n; ++j) {
    double* row = adjoint.row(j);
    const double sum = total(columns.row(j) + j, n - j);
    if (!(sum > 0.0)) {
      std::fill(row + j, row + n, 0.0);
      continue;
    }
    const double mean = dot(walk.step.row(j) + j, row + j, n - j);
    for (int i = j; i < n; ++i) row[i] = (row[i] - mean) / sum;
  }
}

/// The same for the published rule: the node at which a column's sum reaches one gives what the
/// nodes before it take, and nodes after it get nothing.
void undo_cutting(ConstMatrixView columns, Matrix& adjoint) {
  const int n = adjoint.rows();
  for (int j = 0; j < n; ++j) {
    double* row = adjoint.row(j);
    double sum = columns(j, j);
    int last = j;
    while (sum < 1.0 && last < n - 1) sum += columns(j, ++last);
    const double there = row[last];
    for (int i = j; i < n; ++i) row[i] = i < last ? row[i] - there : 0.0;
  }
}

/// Slopes: derivatives towards the heads and not by their weights.
void remove_mean(std::vector<double>& derivative, std::span<const double> weights) {
  double mean = 0.0;
  for (std::size_t h = 0; h < weights.size(); ++h) mean += weights[h] * derivative[h];
  for (double& each : derivative) each -= mean;
}

}  // namespace

WeightObjective::WeightObjective(const HeadSystems& systems, WeightGoal goal,
                                 const MetricsOptions& convention, const Execution& execution)
    : systems_(systems), goal_(goal), convention_(convention), execution_(execution) {
  if (systems.size() == 0) throw InputError("no system to weigh the heads of");
  if (goal == WeightGoal::kSpeed && convention.walk.cutoff < 1)
    throw InputError("a speed needs a cutoff of at least one step");
  convention_.fidelity.minimax_alone = true;
  const auto at_once =
      std::min<std::size_t>(systems.size(), static_cast<std::size_t>(execution.thread_count()));
  each_ = execution.part(1);
  if (at_once > 1) each_.memory = execution.memory.shared();
  if (goal == WeightGoal::kFidelity || convention.normalization != Normalization::kPerHead) return;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    walks_.emplace_back();
    for (int h = 0; h < systems.heads(); ++h)
      walks_.back().push_back(
          head_walk(systems.diffusion(s, h), Normalization::kPerHead, systems.own_walk(s, h)));
  }
}

MirroredMatrix WeightObjective::combined_diffusion(std::size_t system,
                                                   std::span<const double> weights) const {
  return MirroredMatrix(convex_sum_of_lower(systems_.nodes(system), weights, [&](int h) {
    return systems_.diffusion(system, h).view();
  }));
}

Walk WeightObjective::combined_walk(std::size_t system, std::span<const double> weights) const {
  const bool per_head = convention_.normalization == Normalization::kPerHead;
  return combined_walk(system, per_head ? MirroredMatrix() : combined_diffusion(system, weights),
                       weights);
}

Walk WeightObjective::combined_walk(std::size_t system, const MirroredMatrix& diffusion,
                                    std::span<const double> weights) const {
  if (convention_.normalization != Normalization::kPerHead)
    return head_walk(diffusion, convention_.normalization);
  return combine_walks(systems_.nodes(system), weights, [&](int h) -> const Walk& {
    return walks_[system][static_cast<std::size_t>(h)];
  });
}

WeightObjective::Point WeightObjective::evaluate(std::span<const double> weights) const {
  Point point;
  point.weights.assign(weights.begin(), weights.end());
  point.systems.resize(systems_.size());
  parallel_for(systems_.size(), execution_.threads, [&](std::size_t s, int) {
    execution_.check();
    State& state = point.systems[s];
    const bool per_head =
        goal_ != WeightGoal::kFidelity && convention_.normalization == Normalization::kPerHead;
    if (!per_head) state.diffusion = combined_diffusion(s, weights);
    if (goal_ == WeightGoal::kFidelity) {
      state.fidelity =
          std::move(fidelities(state.diffusion, {convention_.fidelity}, each_).front());
      state.value = state.fidelity.minimax;
      return;
    }
    state.walk = combined_walk(s, state.diffusion, weights);
    if (goal_ == WeightGoal::kSpeed) {
      const std::int64_t cutoff = convention_.walk.cutoff;
      state.value =
          1.0 - truncated_hitting_times(state.walk, cutoff).mean / static_cast<double>(cutoff);
    } else {
      HittingTimes times = hitting_times(state.walk);
      state.value = times.mean;
      state.times = std::move(times.node);
    }
  });
  double sum = 0.0;
  for (const State& state : point.systems) sum += state.value;
  point.value = sum / static_cast<double>(systems_.size());
  point.height = is_time() ? -std::log(point.value) : point.value;
  return point;
}

std::vector<double> WeightObjective::signal_slopes(std::size_t system, const State& state,
                                                   std::span<const double> weights,
                                                   int node) const {
  const Matrix adjoint = signal_adjoint(
      state.diffusion, node, state.fidelity.optimal_time[static_cast<std::size_t>(node)]);
  std::vector<double> slopes;
  slopes.reserve(weights.size());
  for (int h = 0; h < heads(); ++h)
    slopes.push_back(product_above(systems_.diffusion(system, h).view(), adjoint));
  remove_mean(slopes, weights);
  return slopes;
}

std::vector<double> WeightObjective::walk_slopes(std::size_t system, const State& state,
                                                 std::span<const double> weights,
                                                 Matrix adjoint) const {
  std::vector<double> slopes;
  if (convention_.normalization == Normalization::kPerHead) {
    for (const Walk& walk : walks_[system]) slopes.push_back(product_above(walk.step, adjoint));
  } else {
    if (convention_.normalization == Normalization::kPooled)
      undo_pooling(state.diffusion.view(), state.walk, adjoint);
    else
      undo_cutting(state.diffusion.view(), adjoint);
    for (int h = 0; h < heads(); ++h)
      slopes.push_back(product_from_diagonal(systems_.diffusion(system, h).view(), adjoint));
  }
  remove_mean(slopes, weights);
  return slopes;
}

std::vector<WeightPiece> WeightObjective::pieces(const Point& point,
                                                 const std::vector<std::vector<int>>& also) const {
  std::vector<std::vector<WeightPiece>> parts(systems_.size());
  parallel_for(systems_.size(), execution_.threads, [&](std::size_t s, int) {
    execution_.check();
    const State& state = point.systems[s];
    if (goal_ == WeightGoal::kSpeed) {
      const std::int64_t cutoff = convention_.walk.cutoff;
      parts[s].push_back(
          {0, 0.0, walk_slopes(s, state, point.weights, truncated_adjoint(state.walk, cutoff))});
    } else if (goal_ == WeightGoal::kHittingTime) {
      parts[s].push_back(
          {0, 0.0, walk_slopes(s, state, point.weights, hitting_adjoint(state.walk, state.times))});
    } else {
      const Fidelity& fidelity = state.fidelity;
      const auto value = [&](int j) { return fidelity.node[static_cast<std::size_t>(j)]; };
      std::vector<int> nodes;
      for (const int j : minimax_nodes(convention_.fidelity, systems_.nodes(s)))
        if (value(j) <= kNearlyWeakest * fidelity.minimax || j == fidelity.minimax_node)
          nodes.push_back(j);
      std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
        if (a == b) return false;
        if (a == fidelity.minimax_node || b == fidelity.minimax_node)
          return a == fidelity.minimax_node;
        return value(a) < value(b);
      });
      nodes.resize(
          std::min<std::size_t>(nodes.size(), static_cast<std::size_t>(kNodesPerHead * heads())));
      if (s < also.size())
        for (const int j : also[s])
          if (std::find(nodes.begin(), nodes.end(), j) == nodes.end()) nodes.push_back(j);
      for (const int j : nodes)
        parts[s].push_back({s, value(j), signal_slopes(s, state, point.weights, j), j});
      if (nodes.empty())  // there is no source: a constant
        parts[s].push_back({s, state.value, std::vector<double>(point.weights.size(), 0.0), 0});
    }
  });
  std::vector<WeightPiece> all;
  if (goal_ == WeightGoal::kFidelity) {
    for (std::vector<WeightPiece>& part : parts)
      for (WeightPiece& piece : part) all.push_back(std::move(piece));
    return all;
  }
  WeightPiece sum{0, point.height, std::vector<double>(point.weights.size(), 0.0)};
  const double unit = goal_ == WeightGoal::kSpeed
                          ? -1.0 / static_cast<double>(convention_.walk.cutoff)
                      : point.value > 0.0 ? -1.0 / point.value
                                          : 0.0;  // a single node
  for (const std::vector<WeightPiece>& part : parts)
    for (std::size_t h = 0; h < sum.slope.size(); ++h)
      sum.slope[h] += unit * part.front().slope[h] / static_cast<double>(systems_.size());
  all.push_back(std::move(sum));
  return all;
}

}  // namespace synergraph
