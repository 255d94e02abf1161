#include "synergraph/diffusion/fidelity.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/fidelity_tracker.h"
#include "synergraph/diffusion/incoming_shares.h"

namespace synergraph {
namespace {

/// Diffusion as a propagation: r_{t+1} = r_t D, the row vector written as a column. `columns` is D
/// transposed.
Propagation signal(ConstMatrixView columns) {
  ScratchVector<double> start(static_cast<std::size_t>(columns.rows), 0.0);
  start.back() = 1.0;
  return {columns, start.data()};
}

Matrix transposed(ConstMatrixView diffusion) {
  if (diffusion.rows < 1 || diffusion.rows != diffusion.cols)
    throw InputError(
        fmt::format("a diffusion matrix is square, not {} x {}", diffusion.rows, diffusion.cols));
  Matrix columns = Matrix::uninitialised(diffusion.rows, diffusion.rows);
  transpose_lower(diffusion, columns.view());
  return columns;
}

/// All options from one propagation. Nothing where states that were flushed might show.
std::vector<Fidelity> follow(Propagation& states, ConstMatrixView diffusion,
                             const std::vector<FidelityOptions>& options,
                             const Execution& execution) {
  std::unique_ptr<SlowSignal> slow;
  std::vector<FidelityTracker> trackers;
  trackers.reserve(options.size());
  for (const FidelityOptions& each : options)
    trackers.emplace_back(diffusion, states, each, execution, slow);
  for (;;) {
    std::int64_t steps = 0;
    int active = 0;
    for (const FidelityTracker& tracker : trackers) {
      if (tracker.done()) continue;
      steps = std::max(steps, tracker.steps_left());
      active = std::max(active, tracker.active());
    }
    if (steps == 0) break;
    execution.check();
    states.restrict_to(active);
    states.advance(steps);
    for (FidelityTracker& tracker : trackers) {
      if (tracker.done()) continue;
      tracker.look();
      if (!tracker.done()) continue;
      if (states.flushed() && tracker.least() < Propagation::kBeyondFlushing) return {};
      tracker.finish();
    }
  }
  std::vector<Fidelity> results;
  results.reserve(options.size());
  for (FidelityTracker& tracker : trackers) results.push_back(tracker.take());
  return results;
}

/// `columns` is the diffusion transposed; both may be one matrix.
std::vector<Fidelity> follow(ConstMatrixView diffusion, ConstMatrixView columns,
                             const std::vector<FidelityOptions>& options,
                             const Execution& execution) {
  // The interval of a step limit does not depend, even in its last bit, on what else is asked for.
  const bool limited = std::any_of(options.begin(), options.end(), [](const auto& each) {
    return each.horizon == 0 && each.step_limit < std::numeric_limits<std::int64_t>::max();
  });
  if (limited && options.size() > 1) {
    std::vector<Fidelity> results;
    results.reserve(options.size());
    for (const FidelityOptions& each : options)
      results.push_back(std::move(follow(diffusion, columns, {each}, execution).front()));
    return results;
  }
  Propagation quick = signal(columns);
  quick.flush_tiny();
  std::vector<Fidelity> results = follow(quick, diffusion, options, execution);
  if (results.size() == options.size()) return results;
  Propagation whole = signal(columns);
  return follow(whole, diffusion, options, execution);
}

}  // namespace

Matrix diffusion_matrix(const FeedforwardGraph& graph) {
  Matrix diffusion(graph.nodes(), graph.nodes());
  for (const Edge& edge : graph.edges()) diffusion(edge.to, edge.from) = edge.weight;
  to_incoming_shares(diffusion);
  return diffusion;
}

Matrix signal_curves(ConstMatrixView diffusion, int steps, const Execution& execution) {
  if (steps < 0) throw UsageError(fmt::format("{} steps are fewer than none", steps));
  const Matrix columns = transposed(diffusion);
  Propagation states = signal(columns);
  Matrix curves(steps + 1, diffusion.rows);
  for (int begin = 0; begin <= steps; begin += Propagation::panel()) {
    execution.check();
    states.advance();
    const int count = std::min(Propagation::panel(), steps + 1 - begin);
    for (int j = 0; j < diffusion.rows; ++j)
      for (int k = 0; k < count; ++k) curves(begin + k, j) = states.at(j, k);
  }
  return curves;
}

Fidelity fidelity(ConstMatrixView diffusion, const FidelityOptions& options,
                  const Execution& execution) {
  return std::move(follow(diffusion, transposed(diffusion), {options}, execution).front());
}

std::vector<Fidelity> fidelities(const MirroredMatrix& diffusion,
                                 const std::vector<FidelityOptions>& options,
                                 const Execution& execution) {
  return follow(diffusion.view(), diffusion.view(), options, execution);
}

}  // namespace synergraph
