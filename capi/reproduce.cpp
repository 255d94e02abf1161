#include <limits>
#include <utility>

#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/train_options.h"
#include "synergraph/core/error.h"
#include "synergraph/report/reproduce_report.h"
#include "synergraph/study/grid_request.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

constexpr int kMost = std::numeric_limits<int>::max();

GridRequest take_grid(Options& options) {
  GridRequest request;
  const auto take_int = [&](const char* key, int least) {
    const auto count = options.take_count(key, least, kMost);
    return count ? std::optional(static_cast<int>(*count)) : std::nullopt;
  };
  request.preset = options.take_text("preset").value_or(request.preset);
  request.tasks = options.take_texts("tasks").value_or(request.tasks);
  for (const std::int64_t heads : options.take_counts("heads", 1, kMost))
    request.heads.push_back(static_cast<int>(heads));
  request.seeds = take_int("seeds", 1);
  for (const std::int64_t seed :
       options.take_counts("seed_list", 0, std::numeric_limits<std::int64_t>::max()))
    request.seed_list.push_back(static_cast<std::uint64_t>(seed));
  if (request.seeds && !request.seed_list.empty())
    throw UsageError("options: seeds and seed_list exclude each other");
  request.epochs = take_int("epochs", 0);
  request.sequences = take_int("sequences", 1);
  request.samples = take_int("samples", 1);
  request.subset_samples = take_int("subset_samples", 0);
  take_settings(options, request.train, {"heads", "epochs", "sequences", "seed"});
  MeasureSettings& measure = request.measure;
  measure.eps = options.take_numbers("eps", std::numeric_limits<double>::denorm_min(), 1.0)
                    .value_or(measure.eps);
  measure.cutoff =
      options.take_count("cutoff", kStepRange.least, kStepRange.most).value_or(measure.cutoff);
  measure.horizon =
      options.take_count("horizon", kStepRange.least, kStepRange.most).value_or(measure.horizon);
  return request;
}

}  // namespace

int sg_reproduce(const char* directory, const char* options, const sg_call* call,
                 sg_result** result) {
  return making(result, [&] {
    require(directory, "directory");
    if (*directory == '\0') throw UsageError("the directory has no name");
    Options given(options);
    ReproduceReport report;
    report.grid = grid_settings(take_grid(given));
    GridOptions run;
    run.directory = directory;
    run.jobs = static_cast<int>(given.take_count("jobs", 1, 4096).value_or(0));
    run.checkpoint_interval = take_checkpoint_interval(given);
    const DeviceChoice device = take_device(given);
    const StudyFigures figures{given.take_bool("figures").value_or(false), {}};
    given.finish();
    if (figures.draw) check_study_figures(report.grid, figures);
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      choose_grid_device(report.grid, device.name, device.precision, run);
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
