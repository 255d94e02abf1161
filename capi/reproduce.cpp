#include <utility>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/reproduce_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

int sg_reproduce(const char* directory, const char* options, const sg_call* call,
                 sg_result** result) {
  return making(result, [&] {
    require(directory, "directory");
    if (*directory == '\0') throw UsageError("the directory has no name");
    const auto settings = take_settings<ReproduceSettings>(options);
    ReproduceReport report;
    report.grid = grid_settings(settings.request);
    GridOptions run = settings.options();
    run.directory = directory;
    const StudyFigures figures{settings.figures.value_or(false), {}};
    if (figures.draw) check_study_figures(report.grid, figures);
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      choose_grid_device(report.grid, settings.device, settings.precision, run);
      run.execution = execution;
      auto results = run_grid(report.grid, run);
      if (!results) throw Stopped();
      report.results = std::move(*results);
      report.findings = derive_findings(report.results);
      write_study(report, run.directory, figures);
    });
    return new sg_result(std::move(report));
  });
}
