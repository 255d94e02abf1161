#include "synergraph/heads/sparse_metrics.h"

#include "synergraph/core/special_values.h"

namespace synergraph {

double SparseMetrics::fidelity_bound() const {
  const auto sources = static_cast<double>(fidelity.node.size() - 1);
  return sources > 0.0 ? backward_hitting_time() / sources : kInfinity;
}

SparseMetrics measure(const SparseGraph& graph, const SparseMetricsOptions& options,
                      const Execution& execution) {
  SparseWalkOptions walk;
  walk.eps = {options.eps};
  walk.cutoff = options.cutoff;
  walk.step_limit = options.step_limit;
  SparseFidelityOptions diffusion;
  diffusion.step_limit = options.step_limit;
  SparseMetrics metrics;
  metrics.walk = summarise_walk(graph, walk, execution);
  metrics.fidelity = fidelity(graph, diffusion, execution);
  metrics.backward = summarise_walk(graph.reversed(), walk, execution);
  return metrics;
}

}  // namespace synergraph
