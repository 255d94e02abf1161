#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "cli/shared_samples_options.h"
#include "cli/stop_signals.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/file_stamp.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/reproduce_report.h"
#include "synergraph/study/grid_run.h"

namespace synergraph::cli {
namespace {

constexpr const char* kReproduceAbout =
    "Train the paper's grid of models, measure it, and show the paper's tables beside ours";

constexpr const char* kReproduceFooter =
    R"(Presets (every option overrides its preset):
  quick   both tasks, heads 1, 4, 8 and 16, one seed, 4 epochs, 200 sequences measured: minutes
  paper   the same with 200 epochs and all 5000 training sequences measured: hours on two cores
Every subset of the heads is measured on the first 2 of the sequences.

DIR gets
  results.json         everything, as in docs/documents.md
  tables/*.{md,csv,tex}  the six tables beside the published values, two on subsets of heads, and
                       two on accuracy with heads switched off
  figures/*.{svg,pdf,png}  mixing time and fidelity by layer, and the diffusion example
  report.html          the interactive page with all of it
  cells/               the trained models and their measurements; who works on which
A cell that is done is kept: interrupt at any time, run again, and only what is missing is done. The
same settings give the same results on one kind of device, interrupted or not, with any number of
threads. A cell that fails is named at the end (exit status 1), after the others.

Several workers, on one machine or many, share a study when DIR is a directory that all of them see:
start the same command under srun, in a Slurm array or under mpirun, or give each its --shard. A
worker that finishes early takes over work of the others, also of dead ones. The last worker writes
the results, the same as of one process. docs/clusters.md explains this, and 'synergraph status DIR'
shows the progress. SIGTERM, SIGUSR1, SIGUSR2, SIGHUP and Ctrl-C leave checkpoints (exit status 128 +
signal): run the command again to continue.

Examples
  synergraph reproduce --out out
  synergraph reproduce --preset paper --seeds 5 --out paper
  synergraph reproduce --preset paper --tasks cycle --heads 1,4 --samples 50 --out cycle
  srun -n 64 synergraph reproduce --preset paper --seeds 100 --out /shared/paper)";

/// What a study consists of: files that are there, and those that must be.
std::vector<std::string> study_files(const std::string& directory, bool figures) {
  std::vector<std::string> files = {directory + "/results.json", directory + "/report.html"};
  for (const char* folder : {"/tables", "/figures"}) {
    if (folder == std::string_view("/figures") && !figures) continue;
    std::error_code none;
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory + folder, none))
      found.push_back(entry.path().string());
    if (found.empty()) found.push_back(directory + folder);
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void show(const ReproduceReport& report, const std::string& directory, bool figures) {
  print(format_report(report, output_columns()) +
        wrapped(fmt::format("\nwrote {}/report.html, results.json{}\n", printable(directory),
                            figures ? ", tables/ and figures/" : " and tables/"),
                output_columns(), 2));
}

void run_reproduce(const ReproduceSettings& settings) {
  ReproduceReport report;
  report.grid = grid_settings(settings.request);
  const StudyFigures figures{!settings.no_figures, figure_options(settings.look)};
  if (figures.draw) check_study_figures(report.grid, figures);
  GridOptions options = settings.options();
  options.execution = execution_of(settings.execution);
  options.execution.stop = StopOnSignals::requested;
  if (!options.merge_only) options.place = parse_shard(settings.workers.shard);
  share_threads(options.execution, options.place);
  choose_grid_device(report.grid, settings.device, settings.precision, options);
  const GridMerge merge{
      [&] { return files_stamp(study_files(options.directory, figures.draw), NamedBy::kProgram); },
      [&](std::vector<CellResult> results) {
        report.results = std::move(results);
        report.findings = derive_findings(report.results);
        write_study(report, options.directory, figures);
      }};
  GridEnd end = GridEnd::kStopped;
  {
    const StopOnSignals signals;
    end = work_on_grid(report.grid, options, merge);
  }
  switch (end) {
    case GridEnd::kMerged:
      show(report, options.directory, figures.draw);
      return;
    case GridEnd::kFinished:
      return print_note(options.place.name() + " is done; another has written the results");
    case GridEnd::kOthers:
      return print_note(options.place.name() + " is done; others work on the last cells");
    case GridEnd::kStopped:
      print_note("stopped; run the same command again to continue");
      StopOnSignals::end_program();
  }
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  add_command<ReproduceSettings>(app, "reproduce", kReproduceAbout, kReproduceFooter,
                                 run_reproduce);
}

}  // namespace synergraph::cli
