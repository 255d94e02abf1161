#include "synergraph/heads/measure_systems.h"

#include <utility>

#include "synergraph/heads/visit_systems.h"

namespace synergraph {

void measure_systems(AttentionSource& source, const std::vector<SampleRange>& samples,
                     const SystemWeights& weights, const MeasureOptions& options,
                     const std::function<void(int layer, int sample,
                                              std::vector<HeadsMetrics> by_convention)>& keep) {
  SystemVisit visit{samples, {}, options.execution};
  visit.unit = "heads";
  visit.work = [](const AttentionLayer& layer) { return static_cast<std::uint64_t>(layer.heads); };
  visit_systems(source, visit, [&](const VisitedSystem& system) {
    MeasureOptions each = options;
    each.execution = system.execution;
    each.head_done = [&] {
      system.execution.check();
      system.done(1);
    };
    each.tell = system.tell;
    keep(system.layer, system.sample,
         measure(system.heads, weights(system.layer, system.sample), each));
  });
}

}  // namespace synergraph
