#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <string>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "cli/shell_text.h"
#include "cli/stop_signals.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/own_file.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/run_settings.h"

namespace synergraph::cli {
namespace {

constexpr const char* kTrainAbout =
    "Train a model of the paper's kind on a task, or on your own pairs of sequences";

constexpr const char* kTrainFooter =
    R"(The model is a decoder-only Transformer; sizes and optimiser default to the paper's (4 layers,
width 64, 5000 sequences of 100 tokens, 200 epochs of Adam). DIR gets
  model.safetensors  the model, with the authors' tensor names: load it in Python or pass it to
                     the other commands
  state.safetensors  all that is needed to continue the run
  metrics.jsonl      one line per epoch: step, epoch, loss, accuracy (training, with dropout),
                     held_out_loss, held_out_accuracy (evaluation), seconds, and with --promote
                     the means of what is promoted
  run.json           seconds and devices of the run, and whether data is held out
All of them are written as the run goes on, and at once on Ctrl-C, SIGTERM, SIGUSR1, SIGUSR2 or
SIGHUP. The same settings and seed give the same model, to the byte, on one kind of device, with any
number of threads, interrupted and resumed or not.

Examples
  synergraph train --task cycle --heads 8 --seed 1 --out runs/cycle8
  synergraph train --resume --out runs/cycle8              continue where it stopped
  synergraph train --resume --epochs 400 --out runs/cycle8  ... and go on for longer
  synergraph train --task copy --heads 4 --track 10 --out runs/copy4
                                        how mixing and fidelity develop, every 10 epochs
  synergraph train --task recall --promote fidelity=0.1 --promote speed=0.05 --out runs/faithful
                                        also raise fidelity, and shorten hitting times
  synergraph train --data x.npy --targets y.npy --vocabulary 50 --out runs/mine
                                        your own pairs: integers of shape (sequences, length).
                                        --validation x2.npy y2.npy gives held-out pairs)";

using Given = std::function<bool(std::string_view key)>;

/// A line with the means of what a run promotes, or nothing.
std::string promoted_line(const TrainOutcome& outcome, const Promotion& promotion) {
  std::string line;
  for (const auto& [metric, name] : kNamesOf<PromotedMetric>) {
    if (promotion[metric] == 0.0) continue;
    const double mean = outcome.promoted.mean(metric);
    line += fmt::format("{}{} {:.4f}", line.empty() ? "promoted, mean of the last epoch: " : ", ",
                        name, mean);
    if (metric == PromotedMetric::kSpeed && outcome.promoted.count(metric) > 0)
      line += fmt::format(" (hitting times: geometric mean {:.4g} steps)", std::exp(-mean));
  }
  return line.empty() ? "" : line + "\n";
}

/// What was not given takes the value the run in the directory has.
void resume_run(const Given& given, RunSettings& run) {
  if (run.pairs.inputs.empty() && !given("task") && read_settings(run.out).task == "data")
    throw UsageError(
        fmt::format("{}: the run was trained on your own pairs: give them again with --data and "
                    "--targets",
                    state_path(run.out)));
  run.resume_run(given);
}

TrainingData make_data(const Given& given, RunSettings& run) {
  TrainSettings& settings = run.train;
  if (run.pairs.inputs.empty()) {
    validate(settings);
    return task_data(find_task(settings.task), settings.seed, settings.sequences, settings.model);
  }
  const std::vector<std::string>& judges = run.validation;
  TrainingData data = file_data(
      run.pairs, judges.empty() ? std::nullopt : std::optional(PairFiles{judges[0], judges[1]}));
  run.fit(data, given);
  return data;
}

/// The command that continues the run.
std::string resume_command(const RunSettings& run) {
  std::string command = "synergraph train --resume --out " + shell_word(run.out);
  if (!run.pairs.inputs.empty())
    command += fmt::format(" --data {} --targets {}", shell_word(run.pairs.inputs),
                           shell_word(run.pairs.targets));
  if (!run.validation.empty())
    command += fmt::format(" --validation {} {}", shell_word(run.validation[0]),
                           shell_word(run.validation[1]));
  return command;
}

TrainOutcome train_until_signal(const TrainSettings& settings, const TrainingData& data,
                                const TrainOptions& options) {
  const StopOnSignals signals;
  try {
    return train(settings, data, options);
  } catch (const RunConflict& conflict) {
    throw UsageError(std::string(conflict.what()) +
                     (conflict.kind() == RunConflict::Kind::kExists
                          ? ": continue it with --resume or choose another directory"
                          : ": give them again with --validation"));
  }
}

void run_train(const CLI::App& command, RunSettings& run) {
  const Given given = [&](std::string_view key) { return command.count(option_name(key)) > 0; };
  run.out = user_directory(run.out);
  if (run.resume && has_run(run.out))
    resume_run(given, run);
  else if (run.resume)
    print_note(fmt::format("{}: no run there: starting one", run.out));
  const TrainingData data = make_data(given, run);
  const FleetSettings shape = fleet_settings(run.train);
  TrainOptions options = run.options();
  options.device = run.choose({&shape, 1}, run.train.sequences);
  options.execution = execution_of(run.execution);
  options.execution.stop = StopOnSignals::requested;
  const TrainOutcome outcome = train_until_signal(run.train, data, options);
  if (!outcome.finished) {
    print_note(
        fmt::format("stopped at step {}; continue with: {}", outcome.step, resume_command(run)));
    StopOnSignals::end_program();
  }
  print(wrapped(
      fmt::format("{} step{} in {} on {}\n"
                  "training loss {:.6g}, accuracy {:.4f}; {} loss {:.6g}, accuracy {:.4f}\n"
                  "{}wrote {}\n",
                  outcome.step, outcome.step == 1 ? "" : "s", format_duration(outcome.seconds),
                  describe(options.device), outcome.loss, outcome.accuracy,
                  data.held_out ? "held-out"
                                : fmt::format("without dropout, on {} of the training pairs:",
                                              data.judged_inputs.count),
                  outcome.judged_loss, outcome.judged_accuracy,
                  promoted_line(outcome, parse_promotion(run.train.promote)),
                  printable(model_path(options.directory))),
      output_columns(), 2));
}

}  // namespace

void add_train_command(CLI::App& app) {
  add_command<RunSettings>(app, "train", kTrainAbout, kTrainFooter, run_train);
}

}  // namespace synergraph::cli
