#include "synergraph/heads/weight_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "synergraph/core/parallel.h"
#include "synergraph/heads/policy.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Nodes whose conflicts over the first head are looked at.
constexpr std::size_t kNodes = 8;

/// What one system adds: the simple bound, and rows that bound its value by linear functions of the
/// weights.
struct SystemBound {
  double simple = 0.0;
  std::vector<WeightPiece> rows;
};

WeightPiece row_of(std::size_t group, Vector values) {
  return {group, 0.0, std::move(values)};
}

SystemBound fidelity_bound(const WeightObjective& objective, const WeightObjective::Point& best,
                           std::size_t s) {
  const HeadSystems& systems = objective.systems();
  const FidelityOptions& options = objective.convention().fidelity;
  const Fidelity& fidelity = best.systems[s].fidelity;
  const int chosen = systems.nodes(s) - (options.nodes == FidelityNodes::kSources ? 1 : 0);
  SystemBound result{1.0, {}};
  std::vector<ConstMatrixView> heads;
  for (int h = 0; h < systems.heads(); ++h) heads.push_back(systems.diffusion(s, h).view());
  // Weak nodes first: their bounds rule out the others early.
  std::vector<int> nodes(static_cast<std::size_t>(chosen));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return fidelity.node[static_cast<std::size_t>(a)] < fidelity.node[static_cast<std::size_t>(b)];
  });
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    objective.execution().check();
    const SignalBound bound =
        signal_bound(heads, nodes[k], options, k < kNodes ? kInfinity : result.simple);
    result.simple = std::min(result.simple, bound.most());
    if (std::isfinite(bound.most())) result.rows.push_back(row_of(s, bound.first));
  }
  if (result.rows.empty()) result.rows.push_back(row_of(s, Vector(heads.size(), 1.0)));
  return result;
}

SystemBound walk_bound(const WeightObjective& objective, std::size_t s) {
  const HeadSystems& systems = objective.systems();
  const MetricsOptions& convention = objective.convention();
  const auto heads = static_cast<std::size_t>(systems.heads());
  const int n = systems.nodes(s);
  const bool published = convention.normalization == Normalization::kPublished;
  std::vector<Walk> made;
  std::vector<const Walk*> walks;
  std::vector<ConstMatrixView> columns;
  made.reserve(heads);
  for (int h = 0; h < systems.heads(); ++h) {
    columns.push_back(systems.diffusion(s, h).view());
    const Walk* own =
        convention.normalization == Normalization::kPerHead ? systems.own_walk(s, h) : nullptr;
    if (own == nullptr && !published) made.push_back(walk_of_columns(systems.diffusion(s, h)));
    walks.push_back(own != nullptr || published ? own : &made.back());
  }
  const auto mean = [&](const Vector& times) {
    return std::accumulate(times.begin(), times.end(), 0.0) / n;
  };
  SystemBound result;
  if (objective.is_time()) {
    result.simple = published ? (n > 1 ? kInfinity : 0.0) : mean(least_hitting_times(walks));
    result.rows.push_back(row_of(s, Vector(heads, -result.simple)));
    return result;
  }
  const std::int64_t cutoff = convention.walk.cutoff;
  const Vector times = published ? least_truncated_times(PublishedRows(columns), cutoff)
                                 : least_truncated_times(WalkRows(walks), cutoff);
  result.simple = 1.0 - mean(times) / static_cast<double>(cutoff);
  result.rows.push_back(row_of(s, Vector(heads, result.simple)));
  return result;
}

/// max over weights of the mean over groups of the least row, from above: any convex combination of
/// rows in each group bounds it, and the largest entry of their mean is attained at a head.
double game_bound(std::vector<WeightPiece> rows, std::size_t groups) {
  const std::size_t heads = rows.front().slope.size();
  const Vector lower(heads, -1.0 / static_cast<double>(heads));
  const Matrix flat(static_cast<int>(heads), static_cast<int>(heads));
  for (WeightPiece& row : rows)
    row.value =
        std::accumulate(row.slope.begin(), row.slope.end(), 0.0) / static_cast<double>(heads);
  const ModelStep step = best_step(rows, groups, lower, flat);
  Vector sums(groups, 0.0);
  for (std::size_t p = 0; p < rows.size(); ++p) sums[rows[p].group] += step.multiplier[p];
  Vector mean(heads, 0.0);
  for (std::size_t p = 0; p < rows.size(); ++p)
    for (std::size_t h = 0; h < heads; ++h)
      mean[h] += step.multiplier[p] / sums[rows[p].group] * rows[p].slope[h];
  return *std::max_element(mean.begin(), mean.end()) / static_cast<double>(groups);
}

}  // namespace

WeightBound bound_weights(const WeightObjective& objective, const WeightObjective::Point& best,
                          int /*cells*/, double /*tolerance*/) {
  const std::size_t systems = objective.systems().size();
  std::vector<SystemBound> parts(systems);
  parallel_for(systems, objective.execution().threads, [&](std::size_t s, int) {
    objective.execution().check();
    parts[s] = objective.goal() == WeightGoal::kFidelity ? fidelity_bound(objective, best, s)
                                                         : walk_bound(objective, s);
  });
  WeightBound result;
  std::vector<WeightPiece> rows;
  for (SystemBound& part : parts) {
    result.simple += part.simple;
    for (WeightPiece& row : part.rows) rows.push_back(std::move(row));
  }
  result.simple /= static_cast<double>(systems);
  result.bound = result.simple;
  if (!std::isfinite(result.simple)) return result;
  const double game = game_bound(std::move(rows), systems);
  result.bound = objective.is_time() ? std::max(result.bound, -game) : std::min(result.bound, game);
  return result;
}

}  // namespace synergraph
