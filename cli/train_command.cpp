#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/number_option.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/shell_text.h"
#include "cli/stop_signals.h"
#include "cli/training_options.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/own_file.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/trainer.h"

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
  metrics.jsonl      one line an epoch: step, epoch, loss, accuracy (training, with dropout),
                     held_out_loss, held_out_accuracy (evaluation), seconds
  run.json           how long it took, and what --resume needs besides
All of them are written as the run goes on, and at once on Ctrl-C, SIGTERM, SIGUSR1, SIGUSR2 or
SIGHUP. The same settings and seed give the same model, to the byte, on one kind of device, with any
number of threads, interrupted and resumed or not.

Examples
  synergraph train --task cycle --heads 8 --seed 1 --out runs/cycle8
  synergraph train --resume --out runs/cycle8              continue where it stopped
  synergraph train --resume --epochs 400 --out runs/cycle8  ... and go on for longer
  synergraph train --task copy --heads 4 --track 10 --out runs/copy4
                                        how mixing and fidelity develop, every 10 epochs
  synergraph train --data x.npy --targets y.npy --vocabulary 50 --out runs/mine
                                        your own pairs: integers of shape (sequences, length).
                                        With --validation x2.npy y2.npy they are judged by pairs
                                        that are not trained on)";

/// What the command line says.
struct TrainArguments {
  TrainSettings settings;
  TrainOptions options;
  PairFiles pairs;
  std::vector<std::string> validation;  ///< inputs and targets, or nothing
  DeviceArguments device;
};

/// What was not given takes the value the run in the directory has.
void inherit_settings(const CLI::App& command, TrainArguments& arguments) {
  const TrainSettings stored = read_settings(arguments.options.directory);
  TrainSettings& settings = arguments.settings;
  const auto inherit = [&](const std::string& name, auto& value, const auto& old) {
    if (command.count(name) == 0) value = old;
  };
  visit_training_settings([&](const std::string& option, auto get, auto...) {
    inherit(option, get(settings), get(stored));
  });
  const auto notes = read_notes(arguments.options.directory);
  if (notes) inherit("--track", arguments.options.track_every, notes->track_every);
  if (stored.task == "data") {
    if (arguments.pairs.inputs.empty() && command.count("--task") == 0)
      throw UsageError(
          fmt::format("{}: the run was trained on your own pairs: give them again with --data and "
                      "--targets",
                      state_path(arguments.options.directory)));
  } else if (arguments.pairs.inputs.empty()) {
    inherit("--task", settings.task, stored.task);
  }
}

TrainingData make_data(const CLI::App& command, TrainArguments& arguments) {
  TrainSettings& settings = arguments.settings;
  if (arguments.pairs.inputs.empty()) {
    validate(settings);
    return task_data(find_task(settings.task), settings.seed, settings.sequences, settings.model);
  }
  const std::vector<std::string>& judges = arguments.validation;
  TrainingData data =
      file_data(arguments.pairs,
                judges.empty() ? std::nullopt : std::optional(PairFiles{judges[0], judges[1]}));
  if (command.count("--sequences") > 0 && settings.sequences != data.inputs.count)
    throw UsageError(fmt::format("--sequences {}, but {} holds {}", settings.sequences,
                                 arguments.pairs.inputs, data.inputs.count));
  if (command.count("--length") == 0) settings.model.length = data.inputs.length;
  if (command.count("--batch") == 0) settings.batch = std::min(settings.batch, data.inputs.count);
  settings.sequences = data.inputs.count;
  settings.task = "data";
  settings.data = fingerprint(data);
  return data;
}

/// The command that continues the run.
std::string resume_command(const TrainArguments& arguments) {
  std::string command =
      "synergraph train --resume --out " + shell_word(arguments.options.directory);
  if (!arguments.pairs.inputs.empty())
    command += fmt::format(" --data {} --targets {}", shell_word(arguments.pairs.inputs),
                           shell_word(arguments.pairs.targets));
  if (!arguments.validation.empty())
    command += fmt::format(" --validation {} {}", shell_word(arguments.validation[0]),
                           shell_word(arguments.validation[1]));
  return command;
}

TrainOutcome train_until_signal(const TrainArguments& arguments, const TrainingData& data) {
  const StopOnSignals signals;
  try {
    return train(arguments.settings, data, arguments.options);
  } catch (const RunConflict& conflict) {
    throw UsageError(std::string(conflict.what()) +
                     (conflict.kind() == RunConflict::Kind::kExists
                          ? ": continue it with --resume or choose another directory"
                          : ": give them again with --validation"));
  }
}

void run_train(const CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  options.directory = user_directory(options.directory);
  if (options.resume && has_run(options.directory))
    inherit_settings(command, arguments);
  else if (options.resume)
    print_note(fmt::format("{}: no run there: starting one", options.directory));
  const TrainingData data = make_data(command, arguments);
  const FleetSettings shape = fleet_settings(arguments.settings);
  options.device = arguments.device.choose({&shape, 1}, arguments.settings.sequences);
  options.execution.stop = StopOnSignals::requested;
  const TrainOutcome outcome = train_until_signal(arguments, data);
  if (!outcome.finished) {
    print_note(fmt::format("stopped at step {}; continue with: {}", outcome.step,
                           resume_command(arguments)));
    StopOnSignals::end_program();
  }
  print(wrapped(
      fmt::format("{} step{} in {} on {}\n"
                  "training loss {:.6g}, accuracy {:.4f}; {} loss {:.6g}, accuracy {:.4f}\n"
                  "wrote {}\n",
                  outcome.step, outcome.step == 1 ? "" : "s", format_duration(outcome.seconds),
                  describe(options.device), outcome.loss, outcome.accuracy,
                  data.held_out ? "held-out"
                                : fmt::format("without dropout, on {} of the training pairs:",
                                              data.judged_inputs.count),
                  outcome.judged_loss, outcome.judged_accuracy,
                  printable(model_path(options.directory))),
      output_columns(), 2));
}

}  // namespace

void add_train_command(CLI::App& app) {
  const auto arguments = std::make_shared<TrainArguments>();
  TrainOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand("train", kTrainAbout);
  command->footer(kTrainFooter);

  std::string names;
  for (const Task& task : tasks())
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", task.name, task.description);
  CLI::Option* task =
      command->add_option("--task", arguments->settings.task, "task to learn: " + names);
  task->capture_default_str()->group("Data");
  CLI::Option* inputs =
      command->add_option("--data", arguments->pairs.inputs, "file with your own input sequences");
  CLI::Option* targets = command->add_option("--targets", arguments->pairs.targets,
                                             "file with the targets of --data, of the same shape");
  command
      ->add_option(
          "--validation", arguments->validation,
          "inputs and targets to evaluate the model on, not used for training (default: the "
          "first 100 training pairs)")
      ->expected(2)
      ->type_name("FILE FILE")
      ->group("Data")
      ->needs(inputs);
  inputs->type_name("FILE")->group("Data")->needs(targets)->excludes(task);
  targets->type_name("FILE")->group("Data")->needs(inputs);

  add_training_settings(*command, arguments->settings);
  command->add_option("--out", options.directory, "directory of the run; created if it is missing")
      ->required()
      ->type_name("DIR")
      ->group("Run");
  command
      ->add_flag("--resume", options.resume,
                 "continue the run in DIR, or start one if there is none")
      ->group("Run");
  add_number(*command, "--checkpoint-every", options.checkpoint_interval,
             "seconds between checkpoints; the program also writes one at the end and on signals",
             kSeconds)
      ->group("Run");
  add_number(*command, "--track", options.track_every,
             "measure mixing time and fidelity of every layer every N epochs, and log them", {0})
      ->default_str("")
      ->group("Run");
  arguments->device.add_to(*command, "Run");
  add_execution_options(*command, options.execution, "Run");
  command->callback([command, arguments] { run_train(*command, *arguments); });
}

}  // namespace synergraph::cli
