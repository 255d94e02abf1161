#include "synergraph/weights/weight_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/parallel.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/weights/corner_pairs.h"
#include "synergraph/weights/part_signals.h"
#include "synergraph/weights/part_walks.h"
#include "synergraph/weights/policy.h"
#include "synergraph/weights/simplex_part.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
// Of sums of some hundred products.
constexpr double kBoundRounding = 1e-13;
// Nodes that are followed in a part of the simplex.
constexpr std::size_t kNodes = 4;

/// The heads of a system combined at the corners of a part. At a corner of the simplex they are
/// those of one head itself.
class Corners {
 public:
  using Head = std::function<ConstMatrixView(std::size_t)>;

  Corners(const std::vector<Vector>& corners, const Head& head) {
    made_.reserve(corners.size());
    for (const Vector& weights : corners) {
      const auto alone = std::find(weights.begin(), weights.end(), 1.0);
      if (alone != weights.end()) {
        views_.push_back(head(static_cast<std::size_t>(alone - weights.begin())));
        continue;
      }
      made_.push_back(combine(weights, head));
      views_.push_back(made_.back());
    }
  }

  static Matrix combine(const Vector& weights, const Head& head) {
    const ConstMatrixView shape = head(0);
    Matrix sum(shape.rows, shape.cols);
    for (std::size_t h = 0; h < weights.size(); ++h)
      for (int i = 0; i < shape.rows && weights[h] > 0.0; ++i)
        add_scaled(head(h).row(i), weights[h], shape.cols, sum.row(i));
    return sum;
  }

  const std::vector<ConstMatrixView>& views() const { return views_; }

 private:
  std::vector<Matrix> made_;
  std::vector<ConstMatrixView> views_;
};

class Bounding {
 public:
  Bounding(const WeightObjective& objective, const WeightObjective::Point& best)
      : objective_(objective), best_(best) {}

  /// Bounds a part, never worse than what is known of it. Returns what remains if every node
  /// chooses its corner at every step; of fidelities, see simple_fidelity().
  double bound(Part& part) const;
  double simple_fidelity() const;

 private:
  const HeadSystems& systems() const { return objective_.systems(); }
  const MetricsOptions& convention() const { return objective_.convention(); }
  std::vector<int> chosen_nodes(std::size_t s) const {
    return minimax_nodes(convention().fidelity, systems().nodes(s));
  }
  double simple_fidelity(std::size_t s) const;
  std::unique_ptr<PartWalks> walks_of(std::size_t s, const Part& part) const;
  std::vector<WeightPiece> fidelity_rows(const Part& part, std::size_t s) const;
  std::vector<WeightPiece> walk_rows(const Part& part, std::size_t s) const;

  const WeightObjective& objective_;
  const WeightObjective::Point& best_;
};

double Bounding::simple_fidelity(std::size_t s) const {
  std::vector<ConstMatrixView> heads;
  heads.reserve(static_cast<std::size_t>(systems().heads()));
  for (int h = 0; h < systems().heads(); ++h) heads.push_back(systems().diffusion(s, h).view());
  // Weak nodes first: their bounds rule out the others early.
  const Fidelity& fidelity = best_.systems[s].fidelity;
  std::vector<int> nodes = chosen_nodes(s);
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return fidelity.node[static_cast<std::size_t>(a)] < fidelity.node[static_cast<std::size_t>(b)];
  });
  double least = 1.0;
  for (const int node : nodes) {
    objective_.execution().check();
    least = std::min(least, signal_bound(heads, node, convention().fidelity, least).most());
  }
  return least;
}

/// The walks of a system at the corners of a part.
std::unique_ptr<PartWalks> Bounding::walks_of(std::size_t s, const Part& part) const {
  const Vector centre = part.weights_at(part.centre);
  std::vector<Walk> walks;
  for (const Vector& weights : part.corners) walks.push_back(objective_.combined_walk(s, weights));
  Walk centre_walk = objective_.combined_walk(s, centre);
  if (convention().normalization == Normalization::kPerHead)
    return convex_part(std::move(walks), std::move(centre_walk), {}, part.centre);
  const auto diffusion = [&](std::size_t h) {
    return systems().diffusion(s, static_cast<int>(h)).view();
  };
  const Corners corners(part.corners, diffusion);
  if (convention().normalization == Normalization::kPublished)
    return published_part(corners.views(), Corners::combine(centre, diffusion),
                          std::move(centre_walk));
  std::vector<Vector> masses;
  for (const ConstMatrixView& columns : corners.views()) {
    masses.emplace_back();
    for (int j = 0; j < columns.rows; ++j)
      masses.back().push_back(total(columns.row(j) + j, columns.rows - j));
  }
  return convex_part(std::move(walks), std::move(centre_walk), std::move(masses), part.centre);
}

std::vector<WeightPiece> Bounding::walk_rows(const Part& part, std::size_t s) const {
  const std::int64_t cutoff = objective_.is_time() ? 0 : convention().walk.cutoff;
  std::vector<WeightPiece> rows;
  for (Vector& row : walks_of(s, part)->rows(cutoff)) {
    for (double& value : row)
      value = objective_.is_time()
                  ? -value * (1.0 - kBoundRounding)
                  : 1.0 - value / static_cast<double>(cutoff) * (1.0 - kBoundRounding);
    rows.push_back({s, 0.0, std::move(row)});
  }
  return rows;
}

std::vector<WeightPiece> Bounding::fidelity_rows(const Part& part, std::size_t s) const {
  const auto diffusion = [&](std::size_t h) {
    return systems().diffusion(s, static_cast<int>(h)).view();
  };
  const Corners corners(part.corners, diffusion);
  const MirroredMatrix centre(Corners::combine(part.weights_at(part.centre), diffusion));
  const Fidelity fidelity = std::move(
      fidelities(centre, {convention().fidelity}, objective_.execution().part(1)).front());
  const auto weakest = [&](const Fidelity& of, std::size_t count) {
    std::vector<int> list = chosen_nodes(s);
    std::stable_sort(list.begin(), list.end(), [&](int a, int b) {
      return of.node[static_cast<std::size_t>(a)] < of.node[static_cast<std::size_t>(b)];
    });
    list.resize(std::min(count, list.size()));
    return list;
  };
  std::vector<int> nodes = weakest(fidelity, kNodes);
  // Of the whole simplex: all that are weak at the best weights.
  for (const int node : s < part.nodes.size()
                            ? part.nodes[s]
                            : weakest(best_.systems[s].fidelity, kNodes + 2 * part.corners.size()))
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  std::vector<WeightPiece> rows =
      signal_rows(corners.views(), centre, nodes, convention().fidelity, s);
  for (WeightPiece& row : rows)
    for (double& value : row.slope) value *= 1.0 + kBoundRounding;
  if (rows.empty()) rows.push_back({s, 0.0, Vector(pair_count(part.corners.size()), 1.0), -1});
  return rows;
}

double Bounding::bound(Part& part) const {
  std::vector<std::vector<WeightPiece>> of_system(systems().size());
  parallel_for(systems().size(), objective_.execution().threads, [&](std::size_t s, int) {
    objective_.execution().check();
    of_system[s] =
        objective_.goal() == WeightGoal::kFidelity ? fidelity_rows(part, s) : walk_rows(part, s);
  });
  std::vector<WeightPiece> rows;
  double choice = 0.0;
  for (std::vector<WeightPiece>& some : of_system) {
    choice += some.front().slope.front() / static_cast<double>(systems().size());
    for (WeightPiece& row : some) rows.push_back(std::move(row));
  }
  if (std::isfinite(choice))
    bound_by_rows(part, rows, systems().size());
  else
    part.bound = choice;  // times are infinite
  return choice;
}

double Bounding::simple_fidelity() const {
  Vector values(systems().size());
  parallel_for(values.size(), objective_.execution().threads,
               [&](std::size_t s, int) { values[s] = simple_fidelity(s); });
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// How many parts take about as long as the ascents: multiply-adds of one, by what bounds do.
int affordable_parts(const WeightObjective& objective) {
  constexpr double kWork = 2e9;
  constexpr double kOverhead = 300.0;  // of a few nodes
  const MetricsOptions& convention = objective.convention();
  const double heads = objective.heads();
  const auto steps = static_cast<double>(std::min<std::int64_t>(convention.walk.cutoff, 2000));
  double each = 200.0 * heads;
  if (objective.is_time()) each = 3.0 * heads * (heads + 4.0);
  if (objective.goal() == WeightGoal::kSpeed)
    each = convention.normalization == Normalization::kPublished
               ? 12.0 * steps * heads
               : 0.5 * steps * heads * (heads + 6.0);
  double sum = 0.0;
  for (std::size_t s = 0; s < objective.systems().size(); ++s)
    sum += each * (std::pow(objective.systems().nodes(s), 2.0) + kOverhead);
  return static_cast<int>(std::clamp(kWork / sum, 1.0, 1000.0));
}

/// One head leaves no choice: its value, or the upper end of it, is the bound.
WeightBound only_weights(const WeightObjective& objective, const WeightObjective::Point& best) {
  double value = best.value;
  if (objective.goal() == WeightGoal::kFidelity) {
    value = 0.0;
    for (const WeightObjective::State& system : best.systems)
      value += system.fidelity.minimax_upper / static_cast<double>(best.systems.size());
  }
  return {value, value};
}

}  // namespace

WeightBound bound_weights(const WeightObjective& objective, const WeightObjective::Point& best,
                          int parts, double tolerance,
                          const std::function<void(const std::vector<double>&)>& promising) {
  if (objective.heads() == 1) return only_weights(objective, best);
  const Bounding bounding(objective, best);
  if (parts <= 0) parts = affordable_parts(objective);
  const double sign = objective.is_time() ? -1.0 : 1.0;
  const bool fidelity = objective.goal() == WeightGoal::kFidelity;
  const auto closed = [&](double bound) {
    return bound <= sign * best.value + 0.5 * tolerance * std::abs(best.value);
  };
  Part whole = whole_simplex(best.weights);
  WeightBound result;
  if (fidelity) whole.bound = result.simple = bounding.simple_fidelity();
  if (!fidelity || !closed(result.simple)) {
    const double choice = bounding.bound(whole);
    if (!fidelity) whole.bound = std::min(whole.bound, result.simple = choice);
  }
  std::vector<Part> open;
  if (std::isfinite(whole.bound) && !closed(whole.bound)) open.push_back(whole);
  const auto worse = [](const Part& a, const Part& b) { return a.bound < b.bound; };
  // The largest bound of parts that hold nothing better.
  double settled = open.empty() ? whole.bound : -std::numeric_limits<double>::infinity();
  int made = 1;
  while (!open.empty() && !closed(open.front().bound) && made + 2 <= parts) {
    std::pop_heap(open.begin(), open.end(), worse);
    const Part part = std::move(open.back());
    open.pop_back();
    promising(part.weights_at(part.shares));
    std::vector<Part> smaller;
    if (made == 1 && !fidelity) smaller = fan(part);
    if (smaller.size() < 2) {
      auto [first, second] = halves(part, fidelity ? Near::kBothEnds : Near::kOneEnd);
      smaller = {std::move(first), std::move(second)};
    }
    made += static_cast<int>(smaller.size());
    for (Part& each : smaller) {
      bounding.bound(each);
      if (closed(each.bound)) {
        settled = std::max(settled, each.bound);
        continue;
      }
      open.push_back(std::move(each));
      std::push_heap(open.begin(), open.end(), worse);
    }
  }
  if (!open.empty()) settled = std::max(settled, open.front().bound);
  result.simple *= sign;
  result.bound = sign * settled;
  return result;
}

}  // namespace synergraph
