#include "synergraph/heads/measure_streamed.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/panel_measurement.h"
#include "synergraph/heads/streamed_operators.h"

namespace synergraph {
namespace {

bool same_fidelity(const FidelityOptions& a, const FidelityOptions& b) {
  return a.nodes == b.nodes && a.from.text() == b.from.text() && a.first_token == b.first_token &&
         a.horizon == b.horizon && a.step_limit == b.step_limit;
}

}  // namespace

std::vector<HeadsMetrics> measure_streamed(HeadRows& rows, const std::vector<double>& weights,
                                           const MeasureOptions& options) {
  const std::vector<MetricsOptions>& conventions = options.conventions;
  if (options.nodes)
    throw InputError(
        "numbers of every token are not measured of heads that do not fit into memory: raise " +
        option_mark("memory") + ", or measure without them");
  if (conventions.front().backward)
    throw InputError(option_mark("backward") +
                     " is not measured of heads that do not fit into memory: raise " +
                     option_mark("memory") + ", or measure without " + option_mark("backward"));
  const bool published = std::any_of(
      conventions.begin(), conventions.end(),
      [](const MetricsOptions& c) { return c.normalization == Normalization::kPublished; });
  StreamedOperators operators(rows, {.weights = weights,
                                     .published = published,
                                     .execution = options.execution,
                                     .tell = options.tell});
  std::vector<HeadsMetrics> results(conventions.size());
  std::vector<bool> measured(conventions.size(), false);
  for (std::size_t c = 0; c < conventions.size(); ++c) {
    if (measured[c]) continue;
    // What can be followed side by side.
    PanelOptions panel{.conventions = {}, .weights = weights, .execution = options.execution};
    std::vector<std::size_t> which;
    for (std::size_t k = c; k < conventions.size(); ++k) {
      if (measured[k] || !same_fidelity(conventions[c].fidelity, conventions[k].fidelity) ||
          conventions[c].walk.cutoff != conventions[k].walk.cutoff)
        continue;
      which.push_back(k);
      panel.conventions.push_back(conventions[k]);
      measured[k] = true;
    }
    if (c > 0) operators.restart();
    std::vector<HeadsMetrics> found = measure_by_panels(operators, panel);
    for (std::size_t k = 0; k < which.size(); ++k) results[which[k]] = std::move(found[k]);
  }
  for (int h = 0; h < rows.heads(); ++h) options.head_done();
  return results;
}

}  // namespace synergraph
