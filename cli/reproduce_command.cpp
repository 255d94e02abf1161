#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/number_option.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "cli/shard_options.h"
#include "cli/stop_signals.h"
#include "cli/training_options.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/file_stamp.h"
#include "synergraph/report/reproduce_report.h"
#include "synergraph/study/grid_request.h"
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
  results.json         everything, in the schema of docs/formats.md
  tables/*.{md,csv,tex}  the six tables beside the published values, two on subsets of heads
  figures/*.{svg,pdf,png}  mixing time and fidelity by layer, and the diffusion example
  report.html          the interactive page with all of it
  cells/               the trained models and their measurements; who works on which
A cell that is done is kept: interrupt at any time, run again, and only what is missing is done. The
same settings give the same results on one kind of device, interrupted or not, with any number of
threads. A cell that fails is named at the end (exit status 1), after the others.

Several workers, on one machine or many, share a study when DIR is a directory that all of them see:
start the same command under srun, in a Slurm array or under mpirun, or give each its --shard. Who
finishes early takes over, also from those that have died; the last one writes the results, the same
as one process would have. docs/clusters.md tells more; 'synergraph status DIR' how far it is. SIGTERM,
SIGUSR1, SIGUSR2, SIGHUP and Ctrl-C leave checkpoints (exit status 128 + signal): run it again.

Examples
  synergraph reproduce --out out
  synergraph reproduce --preset paper --seeds 5 --out paper
  synergraph reproduce --preset paper --tasks cycle --heads 1,4 --samples 50 --out cycle
  srun -n 64 synergraph reproduce --preset paper --seeds 100 --out /shared/paper)";

struct ReproduceArguments {
  GridRequest request;
  GridOptions options;
  FigureArguments figures;
  bool no_figures = false;
  DeviceArguments device;
  ShardArguments shard;
};

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

void run_reproduce(const ReproduceArguments& arguments) {
  ReproduceReport report;
  report.grid = grid_settings(arguments.request);
  StudyFigures figures{!arguments.no_figures, arguments.figures.resolve()};
  if (figures.draw) check_study_figures(report.grid, figures);
  GridOptions options = arguments.options;
  options.execution.stop = StopOnSignals::requested;
  options.wait = !arguments.shard.leave;
  options.timeout = arguments.shard.timeout;
  if (!options.merge_only) options.place = arguments.shard.place();
  share_threads(options.execution, options.place);
  choose_grid_device(report.grid, arguments.device.name,
                     *parse_name<Precision>(arguments.device.precision), options);
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

void add_grid_options(CLI::App& command, ReproduceArguments& arguments) {
  const char* group = "Grid";
  command.add_option("--preset", arguments.request.preset, "quick or paper; see below")
      ->check(CLI::IsMember({"quick", "paper"}))
      ->capture_default_str()
      ->group(group);
  as_list(command.add_option("--tasks", arguments.request.tasks,
                             "tasks to train, separated by commas (default: copy,cycle)"))
      ->group(group);
  add_number(command, "--heads", arguments.request.heads,
             "numbers of heads, separated by commas (default: 1,4,8,16)")
      ->group(group);
  CLI::Option* count =
      add_number(command, "--seeds", arguments.request.seeds,
                 "number of seeds: seeds 1 to K are used (default: 1)", {1, 1000000});
  count->type_name("K")->group(group);
  add_number(command, "--seed-list", arguments.request.seed_list,
             "list of seeds, separated by commas")
      ->excludes(count)
      ->group(group);
}

void add_training_options(CLI::App& command, ReproduceArguments& arguments) {
  const char* group = "Training";
  add_number(command, "--epochs", arguments.request.epochs, "passes over the training sequences")
      ->group(group);
  add_number(command, "--sequences", arguments.request.sequences,
             "number of training sequences (default: 5000)")
      ->group(group);
  add_training_settings(command, arguments.request.train, {"heads", "epochs", "sequences", "seed"});
}

void add_measuring_options(CLI::App& command, ReproduceArguments& arguments) {
  MeasureSettings& measure = arguments.request.measure;
  const char* group = "Measuring";
  add_number(command, "--samples", arguments.request.samples,
             "number of training sequences to measure, from the first (the paper: 50; default: the "
             "preset's)",
             {1})
      ->group(group);
  add_number(command, "--eps", measure.eps, help_of_metric("eps"), kThresholdRange)->group(group);
  add_number(command, "--cutoff", measure.cutoff, help_of_metric("cutoff"), kStepRange)
      ->group(group);
  add_number(command, "--horizon", measure.horizon,
             "diffusion steps looked at for the published fidelity", kStepRange)
      ->group(group);
  add_number(command, "--subset-samples", arguments.request.subset_samples,
             "number of sequences on which all subsets of up to 20 heads are measured; 0: none "
             "(default: the preset's)",
             {0})
      ->group(group);
}

}  // namespace

void add_reproduce_command(CLI::App& app) {
  const auto arguments = std::make_shared<ReproduceArguments>();
  GridOptions& options = arguments->options;
  CLI::App& command = *app.add_subcommand("reproduce", kReproduceAbout);
  command.footer(kReproduceFooter);
  add_grid_options(command, *arguments);
  add_training_options(command, *arguments);
  add_measuring_options(command, *arguments);
  const char* group = "Run";
  command
      .add_option("--out", options.directory, "directory of the study; created if it is missing")
      ->required()
      ->type_name("DIR")
      ->group(group);
  add_number(
      command, "--jobs", options.jobs,
      "cells to run at the same time; they share the threads. On a GPU: sets of up to 64 cells of "
      "one shape. 0: one; on a GPU more if they are small",
      {0, 4096})
      ->group(group);
  add_number(command, "--checkpoint-every", options.checkpoint_interval,
             "seconds between checkpoints of a training", kSeconds)
      ->group(group);
  arguments->device.add_to(command, group);
  add_execution_options(command, options.execution, group);
  const char* workers = "Workers";
  arguments->shard.add_to(command, workers);
  command
      .add_flag("--merge", options.merge_only,
                "only write the tables and figures from results that are already there")
      ->group(workers);
  const char* look = "Figures";
  arguments->figures.add_style_to(command, look);
  command
      .add_flag("--no-figures", arguments->no_figures,
                "draw no figures; gnuplot is not needed then")
      ->excludes("--figure-size")
      ->excludes("--figure-title")
      ->group(look);
  command.callback([arguments] { run_reproduce(*arguments); });
}

}  // namespace synergraph::cli
