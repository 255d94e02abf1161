#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synergraph/chain/bounds.h"
#include "synergraph/core/execution.h"
#include "synergraph/heads/head_systems.h"
#include "synergraph/heads/synergy.h"
#include "synergraph/weights/weight_goal.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A goal at some weights: the mean over the systems.
struct WeightValue {
  double value = 0.0;  ///< of a fidelity that is only known to lie in an interval, the lower end
  /// slope[h]: the derivative towards head h, d/de at e = 0 of the value at (1 - e) w + e e_h. The
  /// derivative in any direction d within the simplex is sum_h d_h slope[h], and sum_h w_h slope[h]
  /// is 0. Of a fidelity: that of the first weakest node. Empty where the value is infinite.
  std::vector<double> slope;
};

/// The goal and its derivatives, exactly, by adjoints. Weights are normalised. InputError where
/// they cannot be, and without a system.
WeightValue value_and_gradient(const HeadSystems& systems, std::span<const double> weights,
                               WeightGoal goal, const MetricsOptions& convention = MetricsOptions(),
                               const Execution& execution = {});

struct BestWeightsOptions {
  MetricsOptions convention = convention_options(Convention::kExact);
  int starts = 12;          ///< ascents: from the given weights, equal ones, and the best of many
  int iterations = 100;     ///< of each ascent at most
  double tolerance = 1e-9;  ///< relative: of an ascent, and of the gap that counts as closed
  std::uint64_t seed = 1;   ///< of the random starts
  /// Parts of the simplex that are bounded one by one at most; 0: by the size of the problem, many
  /// for few heads and systems.
  int bound_parts = 0;
  Execution execution = {};
};

/// The best weights found, and what no weights can exceed.
struct BestWeights {
  std::vector<double> weights;
  double value = 0.0;  ///< of the goal at them
  /// The value is a limit: the smaller some positive weight becomes, the better, but at 0 the value
  /// is worse. The weights then depend on where the search stopped.
  bool limit = false;
  double given_value = 0.0;  ///< at the weights that were given
  double equal_value = 0.0;  ///< at equal weights
  /// No weights at all have a larger value (for times: a smaller one).
  double bound = 0.0;
  double simple_bound = 0.0;  ///< the same if every node could choose its head at every step
  bool optimal = false;       ///< value and bound agree within the tolerance
  /// The norm of the projected gradient at the weights, of the shortest one where the weakest nodes
  /// leave a choice; for times, of the logarithm of the value. 0 at a stationary point, NaN where
  /// the value is infinite.
  double gradient_norm = 0.0;
  int starts = 0;
  int iterations = 0;  ///< of all ascents together

  // The paper's adaptive weights: all on the head with the largest forward probability (of the
  // heads' own walks, mean over the systems), which makes the most of the bound 2 N / p.
  int adaptive_head = 0;
  double adaptive_probability = 0.0;
  MixingBound adaptive;         ///< 2 N / p of it, for the largest system
  double adaptive_value = 0.0;  ///< of the goal
};

/// The weights w >= 0, summing to one, that all systems share and that are best for the mean of the
/// goal over them. The problem is not convex: ascents from several starts, and a bound beside the
/// result. Results do not depend on the number of threads. InputError where the given weights
/// cannot be normalised, and without a system.
BestWeights best_weights(const HeadSystems& systems, std::span<const double> given, WeightGoal goal,
                         const BestWeightsOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop
