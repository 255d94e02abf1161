#include "synergraph/heads/best_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/heads/weight_ascent.h"
#include "synergraph/heads/weight_bound.h"
#include "synergraph/heads/weight_objective.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// Normalised, unless they are already, as measure() has it.
Vector convex_weights(std::span<const double> raw, int heads) {
  Vector weights(raw.begin(), raw.end());
  Vector convex = normalised_weights(weights, static_cast<std::size_t>(heads));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  return std::abs(sum - 1.0) <= 1e-15 * heads ? weights : convex;
}

Vector one_head(std::size_t heads, std::size_t head) {
  Vector weights(heads, 0.0);
  weights[head] = 1.0;
  return weights;
}

/// Equal weights up to `share`, the rest for one head: from a head alone nothing may be seen of
/// the others.
Vector mostly(std::size_t heads, std::size_t head, double share) {
  Vector weights(heads, (1.0 - share) / static_cast<double>(heads));
  weights[head] += share;
  return weights;
}

/// Uniform on the simplex.
Vector random_weights(std::size_t heads, std::uint64_t seed, std::uint32_t index) {
  RandomSequence draws(seed, Purpose::kWeights, index);
  Vector weights;
  for (std::size_t h = 0; h < heads; ++h) weights.push_back(-std::log1p(-draws.uniform()));
  return normalised_weights(weights, heads);
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
};

void Search::clean() {
  Vector weights = best_.weights;
  for (double& w : weights)
    if (w < 1e-9) w = 0.0;
  WeightObjective::Point point = objective_.evaluate(normalised_weights(weights, weights.size()));
  const double allowed =
      1e-3 * options_.tolerance * (objective_.is_time() ? 1.0 : std::abs(best_.height));
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

}  // namespace

WeightValue value_and_gradient(const HeadSystems& systems, std::span<const double> weights,
                               WeightGoal goal, const MetricsOptions& convention,
                               const Execution& execution) {
  const WeightObjective objective(systems, goal, convention, execution);
  const WeightObjective::Point point = objective.evaluate(convex_weights(weights, systems.heads()));
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
  const Vector first = convex_weights(given, systems.heads());
  Search search(objective, options);
  BestWeights result;

  WeightObjective::Point point = objective.evaluate(first);
  result.given_value = point.value;
  search.take(std::move(point));
  const Vector forward = forward_probabilities(systems);
  result.adaptive_head =
      static_cast<int>(std::max_element(forward.begin(), forward.end()) - forward.begin());
  result.adaptive_probability = forward[static_cast<std::size_t>(result.adaptive_head)];
  int nodes = 0;
  for (std::size_t s = 0; s < systems.size(); ++s) nodes = std::max(nodes, systems.nodes(s));
  result.adaptive = mixing_bound(nodes, result.adaptive_probability);
  std::vector<std::pair<double, std::size_t>> alone;  // heads, the best first
  for (std::size_t h = 0; h < heads; ++h) {
    point = objective.evaluate(one_head(heads, h));
    if (static_cast<int>(h) == result.adaptive_head) result.adaptive_value = point.value;
    alone.emplace_back(-point.height, h);
    search.take(std::move(point));
  }
  std::stable_sort(alone.begin(), alone.end());

  for (int k = 0; k < std::max(1, options.starts) && heads > 1; ++k) {
    const auto head = static_cast<std::size_t>(k) / 2;
    if (k == 0)
      search.climb(first);
    else if (k == 1)
      search.climb(Vector(heads, 1.0 / static_cast<double>(heads)));
    else if (k % 2 == 0 && head <= heads)
      search.climb(mostly(heads, alone[head - 1].second, 0.8));
    else
      search.climb(random_weights(heads, options.seed, static_cast<std::uint32_t>(k)));
  }
  if (heads > 1) search.clean();

  const WeightBound bound =
      bound_weights(objective, search.best(), options.bound_cells, options.tolerance);
  result.weights = search.best().weights;
  result.value = search.best().value;
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
