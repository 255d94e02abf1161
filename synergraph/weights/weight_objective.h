#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/diffusion/fidelity_types.h"
#include "synergraph/heads/head_systems.h"
#include "synergraph/heads/synergy.h"
#include "synergraph/weights/simplex_program.h"
#include "synergraph/weights/weight_goal.h"

namespace synergraph {

/// A goal as a function of the weights.
class WeightObjective {
 public:
  /// The systems must outlive this object.
  WeightObjective(const HeadSystems& systems, WeightGoal goal, const MetricsOptions& convention,
                  const Execution& execution);

  /// One system, all its heads together.
  struct State {
    double value = 0.0;
    MirroredMatrix diffusion;
    Walk walk;                  // of speeds and times
    std::vector<double> times;  // untruncated
    Fidelity fidelity;
  };
  struct Point {
    std::vector<double> weights;
    double value = 0.0;   ///< mean over the systems
    double height = 0.0;  ///< what is to be maximised: the value; of times, -log of it
    std::vector<State> systems;
  };

  Point evaluate(std::span<const double> weights) const;

  /// Groups of pieces: one a system for fidelities, else one.
  std::size_t groups() const {
    return goal_ == WeightGoal::kFidelity ? systems_.size() : std::size_t{1};
  }
  /// The height near a point as the mean over groups of the least of some linear functions. For
  /// fidelities: of nodes that are nearly the weakest, and of those in `also`, a list a system.
  std::vector<WeightPiece> pieces(const Point& point,
                                  const std::vector<std::vector<int>>& also = {}) const;

  /// The walk of a system's heads together.
  Walk combined_walk(std::size_t system, std::span<const double> weights) const;

  const HeadSystems& systems() const { return systems_; }
  WeightGoal goal() const { return goal_; }
  const MetricsOptions& convention() const { return convention_; }
  const Execution& execution() const { return execution_; }
  int heads() const { return systems_.heads(); }
  bool is_time() const { return goal_ == WeightGoal::kHittingTime; }

 private:
  MirroredMatrix combined_diffusion(std::size_t system, std::span<const double> weights) const;
  Walk combined_walk(std::size_t system, const MirroredMatrix& diffusion,
                     std::span<const double> weights) const;
  std::vector<double> signal_slopes(std::size_t system, const State& state,
                                    std::span<const double> weights, int node) const;
  std::vector<double> walk_slopes(std::size_t system, const State& state,
                                  std::span<const double> weights, Matrix adjoint) const;

  const HeadSystems& systems_;
  WeightGoal goal_;
  MetricsOptions convention_;
  Execution execution_;
  Execution each_;                        // of one system
  std::vector<std::vector<Walk>> walks_;  // of the heads, per-head normalisation
};

}  // namespace synergraph
