#include "synergraph/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/directory_lock.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/metrics_log.h"
#include "synergraph/train/run_notes.h"
#include "synergraph/train/tracking.h"

namespace synergraph {
namespace {

using Clock = std::chrono::steady_clock;

/// Judged sequences whose attention is tracked.
constexpr int kTracked = 10;

constexpr const char* kInTheWay =
    "{} is in the way and belongs to no run: choose another directory";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A new run must not overwrite files that no run of ours has left. (The state is written before
/// the model, and an empty log before both.)
void refuse_foreign_files(const std::string& directory) {
  for (const std::string& path : {model_path(directory), log_path(directory)}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (!missing && size > 0) throw UsageError(fmt::format(kInTheWay, path));
  }
  if (std::filesystem::exists(notes_path(directory)) && !read_notes(directory))
    throw UsageError(fmt::format(kInTheWay, notes_path(directory)));
}

/// The run in the directory, or a new one.
StoredRun open_run(const TrainSettings& settings, const TrainOptions& options) {
  if (has_run(options.directory)) {
    if (!options.resume)
      throw UsageError(fmt::format(
          "{} already holds a run: continue it with --resume or choose another directory",
          options.directory));
    StoredRun run = read_run(options.directory);
    const std::string other = difference(run.settings, settings);
    if (!other.empty())
      throw UsageError(fmt::format("{}: the run has {}", state_path(options.directory), other));
    if (settings.steps() < run.position.step) {
      const auto per_epoch = static_cast<std::uint64_t>(settings.steps_per_epoch());
      throw UsageError(fmt::format(
          "{}: the run is in or after epoch {}: epochs cannot be {}", state_path(options.directory),
          (run.position.step + per_epoch - 1) / per_epoch, settings.epochs));
    }
    run.settings.epochs = settings.epochs;
    return run;
  }
  refuse_foreign_files(options.directory);
  StoredRun run{settings, TrainingState(settings.model), {}};
  initialise(run.state.model, settings.seed);
  return run;
}

/// One call of train(): the run, the device's step and the log.
class Trainer {
 public:
  Trainer(StoredRun run, const TrainingData& data, const TrainOptions& options)
      : run_(std::move(run)),
        data_(data),
        options_(options),
        fleet_(make_fleet(Device::kCpu, fleet_settings(run_.settings), options.execution)),
        member_(fleet_->add(run_.state, run_.settings.seed, data)),
        log_(log_path(options.directory), run_.position.step),
        seconds_before_(seconds_before()),
        progress_("steps", run_.settings.steps(),
                  std::min(run_.position.step, run_.settings.steps()), options.execution.progress) {
    save();  // before any work, so that a directory that cannot be written is known at once
  }

  TrainOutcome run() {
    const TrainSettings& settings = run_.settings;
    while (run_.position.step < settings.steps() && !stopped()) {
      run_step();
      if (seconds_since(saved_) >= options_.checkpoint_interval) save();
    }
    progress_.finish();
    save();
    const Evaluation evaluation = judge();
    return {run_.position.step >= settings.steps(),
            run_.position.step,
            run_.position.last_loss,
            run_.position.last_accuracy,
            evaluation.loss,
            evaluation.accuracy,
            seconds()};
  }

 private:
  bool stopped() const { return options_.execution.stopped(); }

  void run_step() {
    const TrainSettings& settings = run_.settings;
    RunPosition& position = run_.position;
    const auto per_epoch = static_cast<std::uint64_t>(settings.steps_per_epoch());
    const auto epoch = static_cast<std::uint32_t>(position.step / per_epoch);
    const int first = static_cast<int>(position.step % per_epoch) * settings.batch;
    const int count = std::min(settings.batch, settings.sequences - first);
    if (order_.empty() || epoch != order_epoch_) {
      order_ = epoch_order(settings.seed, epoch, settings.sequences);
      order_epoch_ = epoch;
    }
    const FleetWork work{member_, std::span(order_).subspan(static_cast<std::size_t>(first),
                                                            static_cast<std::size_t>(count))};
    const StepResult result = fleet_->run({&work, 1}).at(0).at(0);
    if (!(result.loss < 1e30))
      throw InputError(
          fmt::format("step {}: the loss is {}: training has diverged, try a smaller "
                      "learning rate",
                      position.step + 1, result.loss));
    ++position.step;
    position.loss_sum += result.loss * count;
    position.correct += result.correct;
    position.sequences += count;
    report(epoch);
    if (position.step % per_epoch == 0) end_epoch(epoch + 1);
  }

  double epoch_loss() const {
    return run_.position.loss_sum / static_cast<double>(run_.position.sequences);
  }
  double epoch_accuracy() const {
    return static_cast<double>(run_.position.correct) /
           (static_cast<double>(run_.position.sequences) * run_.settings.model.length);
  }

  void report(std::uint32_t epoch) {
    const std::string state = fmt::format("epoch {}/{}  loss {:.4g}  accuracy {:.4f}", epoch + 1,
                                          run_.settings.epochs, epoch_loss(), epoch_accuracy());
    progress_.update(run_.position.step, state);
  }

  /// What the run took before this call.
  double seconds_before() const {
    if (run_.position.step == 0) return 0.0;
    return std::max(log_.seconds(), read_notes(options_.directory).value_or(RunNotes{}).seconds);
  }
  double seconds() const { return seconds_before_ + seconds_since(start_); }

  Evaluation judge() {
    fleet_->save(member_, run_.state);
    return fleet_->judge({&member_, 1}).at(0);
  }

  void end_epoch(std::uint32_t epochs_done) {
    RunPosition& position = run_.position;
    position.last_loss = epoch_loss();
    position.last_accuracy = epoch_accuracy();
    position.loss_sum = 0.0;
    position.correct = 0;
    position.sequences = 0;
    const Evaluation judged = judge();
    const std::string judged_on = data_.held_out ? "held_out" : "training_pairs";
    nlohmann::ordered_json line = {{"step", position.step},
                                   {"epoch", epochs_done},
                                   {"loss", position.last_loss},
                                   {"accuracy", position.last_accuracy},
                                   {judged_on + "_loss", judged.loss},
                                   {judged_on + "_accuracy", judged.accuracy},
                                   {"seconds", seconds()}};
    if (options_.track_every > 0 &&
        epochs_done % static_cast<std::uint32_t>(options_.track_every) == 0)
      line["layers"] = tracked_layers();
    log_.append(line.dump());
  }

  nlohmann::ordered_json tracked_layers() const {
    auto layers = nlohmann::ordered_json::array();
    for (const LayerTrack& layer :
         track_layers(run_.state.model, data_.judged_inputs, kTracked, options_.execution.threads))
      layers.push_back({{"mixing_time", layer.mixing_time},
                        {"hitting_time", layer.hitting_time},
                        {"truncated_time", layer.truncated_time},
                        {"fidelity", layer.fidelity},
                        {"best_head_fidelity", layer.best_head_fidelity}});
    return layers;
  }

  void save() {
    fleet_->save(member_, run_.state);
    write_notes(options_.directory, {seconds(), options_.track_every, data_.held_out});
    write_checkpoint(options_.directory, run_.settings, run_.state, run_.position);
    saved_ = Clock::now();
  }

  StoredRun run_;
  const TrainingData& data_;
  const TrainOptions& options_;
  std::unique_ptr<Fleet> fleet_;
  int member_;
  MetricsLog log_;
  double seconds_before_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
  std::vector<std::int32_t> order_;
  std::uint32_t order_epoch_ = 0;
};

}  // namespace

TrainOutcome train(const TrainSettings& settings, const TrainingData& data,
                   const TrainOptions& options) {
  validate(settings);
  require_fitting(settings.model, data.inputs, "inputs");
  require_fitting(settings.model, data.targets, "targets");
  if (data.inputs.count != settings.sequences || data.targets.count != settings.sequences)
    throw InputError(fmt::format("{} inputs and {} targets for {} training sequences",
                                 data.inputs.count, data.targets.count, settings.sequences));
  require_fitting(settings.model, data.judged_inputs, "validation inputs");
  require_fitting(settings.model, data.judged_targets, "validation targets");
  make_directory(options.directory);
  const DirectoryLock lock(options.directory);
  StoredRun run = open_run(settings, options);
  if (!data.held_out && read_notes(options.directory).value_or(RunNotes{}).held_out)
    throw UsageError(
        fmt::format("{}: the run was judged by validation pairs: give them again with --validation",
                    notes_path(options.directory)));
  return Trainer(std::move(run), data, options).run();
}

}  // namespace synergraph
