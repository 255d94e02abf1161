#include "synergraph/weights/best_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/random.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/weights/weight_ascent.h"
#include "synergraph/weights/weight_bound.h"
#include "synergraph/weights/weight_objective.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// As measure() has them.
Vector weights_for(std::span<const double> raw, const HeadSystems& systems) {
  return convex_weights({raw.begin(), raw.end()}, static_cast<std::size_t>(systems.heads()));
}

Vector one_head(std::size_t heads, std::size_t head) {
  Vector weights(heads, 0.0);
  weights[head] = 1.0;
  return weights;
}

/// On some of the heads, mostly few: exponential numbers to the third power, normalised.
Vector random_weights(std::size_t heads, std::uint64_t seed, std::uint32_t index) {
  RandomSequence draws(seed, Purpose::kWeights, index);
  Vector weights;
  for (std::size_t h = 0; h < heads; ++h)
    weights.push_back(std::pow(-std::log1p(-draws.uniform()), 3.0));
  return normalised_weights(weights, heads);
}

/// All weights of few heads that are multiples of 1 / parts and all positive.
void add_lattice(std::size_t heads, int parts, std::vector<Vector>& list) {
  Vector weights;
  const auto extend = [&](const auto& self, int left) -> void {
    const auto missing = static_cast<int>(heads - weights.size());
    if (missing == 1) {
      list.push_back(weights);
      list.back().push_back(static_cast<double>(left) / parts);
      return;
    }
    for (int part = 1; part <= left - missing + 1; ++part) {
      weights.push_back(static_cast<double>(part) / parts);
      self(self, left - part);
      weights.pop_back();
    }
  };
  extend(extend, parts);
}

/// Where ascents might begin: heads, pairs of heads while these are few, a lattice while it is
/// small, and random weights.
std::vector<Vector> candidates(std::size_t heads, std::uint64_t seed) {
  constexpr std::size_t kMostPairs = 200;
  constexpr std::uint32_t kRandom = 64;
  constexpr std::size_t kLatticeHeads = 4;
  constexpr int kLatticeParts = 12;
  std::vector<Vector> list;
  for (std::size_t h = 0; h < heads; ++h) list.push_back(one_head(heads, h));
  for (std::size_t h = 0; h < heads && heads * (heads - 1) / 2 <= kMostPairs; ++h)
    for (std::size_t g = 0; g < h; ++g) {
      list.push_back(one_head(heads, h));
      list.back()[h] = list.back()[g] = 0.5;
    }
  if (heads > 1 && heads <= kLatticeHeads) add_lattice(heads, kLatticeParts, list);
  for (std::uint32_t k = 0; k < kRandom && heads > 1; ++k)
    list.push_back(random_weights(heads, seed, k));
  return list;
}

/// The best weights for the signals after one step, which are linear in the weights.
Vector best_first_step(const HeadSystems& systems, const FidelityOptions& options) {
  const auto heads = static_cast<std::size_t>(systems.heads());
  const Vector equal(heads, 1.0 / static_cast<double>(heads));
  std::vector<WeightPiece> pieces;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const int sink = systems.nodes(s) - 1;
    std::vector<int> nodes = minimax_nodes(options, systems.nodes(s));
    if (nodes.empty()) nodes = {0};
    for (const int j : nodes) {
      WeightPiece piece{s, 0.0, {}, j};
      for (int h = 0; h < systems.heads(); ++h) {
        piece.slope.push_back(systems.diffusion(s, h).view()(sink, j));
        piece.value += piece.slope.back() * equal.front();
      }
      pieces.push_back(std::move(piece));
    }
  }
  const ModelStep step = best_step(pieces, systems.size(), Vector(heads, -equal.front()),
                                   Matrix(systems.heads(), systems.heads()));
  Vector weights;
  for (const double by : step.step) weights.push_back(std::max(0.0, equal.front() + by));
  return total(weights.data(), systems.heads()) > 0.5 ? normalised_weights(weights, heads) : equal;
}

double distance(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t h = 0; h < a.size(); ++h) sum += std::abs(a[h] - b[h]);
  return sum;
}

class Search {
 public:
  Search(const WeightObjective& objective, const BestWeightsOptions& options)
      : objective_(objective), options_(options) {}

  void take(WeightObjective::Point point) {
    if (best_.weights.empty() || point.height > best_.height) best_ = std::move(point);
  }
  void climb(const Vector& start) {
    Ascent ascent = ascend(objective_, start, {options_.iterations, options_.tolerance});
    ++starts_;
    iterations_ += ascent.iterations;
    take(std::move(ascent.point));
  }
  /// Climbs from weights where a bound is attained: the first few, then those that are better.
  void try_near(const Vector& weights) {
    if (!(total(weights.data(), objective_.heads()) > 0.5)) return;
    const Vector convex = normalised_weights(weights, weights.size());
    if (tried_++ < options_.starts / 4 || objective_.evaluate(convex).height > best_.height)
      climb(convex);
  }
  /// Weights that rounding left next to zero.
  void clean();

  const WeightObjective::Point& best() const { return best_; }
  int starts() const { return starts_; }
  int iterations() const { return iterations_; }

 private:
  const WeightObjective& objective_;
  const BestWeightsOptions& options_;
  WeightObjective::Point best_;
  int starts_ = 0;
  int iterations_ = 0;
  int tried_ = 0;
};

/// A weight below this is 0 unless the value falls without it.
constexpr double kVanishing = 1e-9;

void Search::clean() {
  Vector weights = best_.weights;
  for (double& w : weights)
    if (w < kVanishing) w = 0.0;
  WeightObjective::Point point = objective_.evaluate(normalised_weights(weights, weights.size()));
  const double allowed =
      0.01 * options_.tolerance * (objective_.is_time() ? 1.0 : std::abs(best_.height));
  if (point.height >= best_.height - allowed) best_ = std::move(point);
}

/// The mean forward probability of each head's own walk.
Vector forward_probabilities(const HeadSystems& systems) {
  Vector result;
  for (int h = 0; h < systems.heads(); ++h) {
    double sum = 0.0;
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const Walk* own = systems.own_walk(s, h);
      sum += forward_probability(own != nullptr ? *own : walk_of_columns(systems.diffusion(s, h)));
    }
    result.push_back(sum / static_cast<double>(systems.size()));
  }
  return result;
}

void set_adaptive(const HeadSystems& systems, BestWeights& result) {
  const Vector forward = forward_probabilities(systems);
  const auto largest = std::max_element(forward.begin(), forward.end());
  int nodes = 0;
  for (std::size_t s = 0; s < systems.size(); ++s) nodes = std::max(nodes, systems.nodes(s));
  result.adaptive_head = static_cast<int>(largest - forward.begin());
  result.adaptive_probability = *largest;
  result.adaptive = mixing_bound(nodes, *largest);
}

}  // namespace

WeightValue value_and_gradient(const HeadSystems& systems, std::span<const double> weights,
                               WeightGoal goal, const MetricsOptions& convention,
                               const Execution& execution) {
  const WeightObjective objective(systems, goal, convention, execution);
  const WeightObjective::Point point = objective.evaluate(weights_for(weights, systems));
  WeightValue result{point.value, {}};
  if (!std::isfinite(point.value)) return result;
  result.slope.assign(point.weights.size(), 0.0);
  std::vector<bool> seen(objective.groups(), false);
  for (const WeightPiece& piece : objective.pieces(point)) {
    if (seen[piece.group]) continue;  // the weakest node is the first of its group
    seen[piece.group] = true;
    for (std::size_t h = 0; h < result.slope.size(); ++h)
      result.slope[h] += piece.slope[h] / static_cast<double>(objective.groups());
  }
  if (objective.is_time())
    for (double& slope : result.slope) slope *= -point.value;
  return result;
}

BestWeights best_weights(const HeadSystems& systems, std::span<const double> given, WeightGoal goal,
                         const BestWeightsOptions& options) {
  const WeightObjective objective(systems, goal, options.convention, options.execution);
  const auto heads = static_cast<std::size_t>(systems.heads());
  const Vector first = weights_for(given, systems);
  Search search(objective, options);
  BestWeights result;

  WeightObjective::Point point = objective.evaluate(first);
  result.given_value = point.value;
  search.take(std::move(point));
  const Vector equal(heads, 1.0 / static_cast<double>(heads));
  result.equal_value = objective.evaluate(equal).value;
  set_adaptive(systems, result);
  const std::vector<Vector> list = candidates(heads, options.seed);
  std::vector<std::pair<double, std::size_t>> ranked;  // the best first
  for (std::size_t k = 0; k < list.size(); ++k) {
    point = objective.evaluate(list[k]);
    if (k == static_cast<std::size_t>(result.adaptive_head)) result.adaptive_value = point.value;
    ranked.emplace_back(-point.height, k);
    search.take(std::move(point));
  }
  std::stable_sort(ranked.begin(), ranked.end());
  std::vector<Vector> starts = {first, equal};
  if (goal == WeightGoal::kFidelity && heads > 1)
    starts.push_back(best_first_step(systems, options.convention.fidelity));
  for (const auto& next : ranked) {
    constexpr double kFar = 0.2;
    const Vector& start = list[next.second];
    const auto near = [&](const Vector& other) { return distance(start, other) < kFar; };
    if (std::none_of(starts.begin(), starts.end(), near)) starts.push_back(start);
  }
  for (const Vector& start : starts)
    if (heads > 1 && search.starts() < std::max(1, options.starts)) search.climb(start);

  if (heads > 1) search.clean();
  const WeightBound bound =
      bound_weights(objective, search.best(), options.bound_parts, options.tolerance,
                    [&](const Vector& weights) { search.try_near(weights); });
  if (heads > 1) search.clean();
  result.weights = search.best().weights;
  result.value = search.best().value;
  result.limit = std::any_of(result.weights.begin(), result.weights.end(),
                             [](double w) { return w > 0.0 && w < kVanishing; });
  result.gradient_norm = projected_gradient_norm(objective, search.best());
  // What is attained is no more than the bound but for rounding.
  const auto at_least = [&](double value) {
    return objective.is_time() ? std::min(value, result.value) : std::max(value, result.value);
  };
  result.bound = at_least(bound.bound);
  result.simple_bound = at_least(bound.simple);
  result.optimal = result.value == result.bound ||
                   std::abs(result.bound - result.value) <=
                       options.tolerance * std::max(std::abs(result.bound), std::abs(result.value));
  result.starts = search.starts();
  result.iterations = search.iterations();
  return result;
}

}  // namespace synergraph
