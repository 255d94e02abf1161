#include <utility>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/design_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

SystemArrays rows_of(const DesignOutcome& outcome) {
  const DesignEdges& any = outcome.designs.front().edges;
  NamedArray first{"first",
                   "design head node",
                   {static_cast<std::int64_t>(outcome.designs.size()), any.heads(),
                    any.nodes() + std::int64_t{1}},
                   {},
                   {}};
  NamedArray receivers{"receivers", "edge", {0}, {}, {}};
  for (const FoundDesign& design : outcome.designs)
    for (int h = 0; h < any.heads(); ++h) {
      for (int j = 0; j < any.nodes(); ++j) {
        first.counts.push_back(static_cast<std::int64_t>(receivers.counts.size()));
        receivers.counts.push_back(j);
        const auto& row = design.edges.receivers(h, j);
        receivers.counts.insert(receivers.counts.end(), row.begin(), row.end());
      }
      first.counts.push_back(static_cast<std::int64_t>(receivers.counts.size()));
    }
  receivers.shape = {static_cast<std::int64_t>(receivers.counts.size())};
  SystemArrays arrays;
  arrays.arrays = {std::move(first), std::move(receivers)};
  return arrays;
}

}  // namespace

int sg_design(const char* options, const sg_call* call, sg_result** result) {
  return making(result, [&] {
    const auto settings = take_settings<DesignSettings>(options);
    SystemArrays arrays;
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      const DesignOutcome outcome = search_designs(settings, execution);
      arrays = rows_of(outcome);
      arrays.document = json_report(settings, outcome);
      arrays.table = designs_summary(settings, outcome) + format_text(designs_table(outcome));
    });
    return new sg_result(std::move(arrays));
  });
}
