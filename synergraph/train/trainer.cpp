#include "synergraph/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/metrics_log.h"
#include "synergraph/train/tracking.h"

namespace synergraph {
namespace {

using Clock = std::chrono::steady_clock;

/// Held-out sequences whose attention is tracked.
constexpr int kTracked = 10;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A new run must not overwrite files that no run of ours has left. (The state is written before
/// the model, and an empty log before both.)
void refuse_foreign_files(const std::string& directory) {
  for (const std::string& path : {model_path(directory), log_path(directory)}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(path, missing);
    if (!missing && size > 0)
      throw UsageError(
          fmt::format("{} is in the way and belongs to no run: choose another directory", path));
  }
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
        step_(make_cpu_step(run_.settings.model,
                            {run_.settings.adam, run_.settings.dropout, run_.settings.seed},
                            options.threads)),
        log_(log_path(options.directory), run_.position.step),
        progress_("steps", run_.settings.steps(),
                  std::min(run_.position.step, run_.settings.steps()), options.progress) {
    step_->load(run_.state);
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
    const Evaluation evaluation = evaluate_held_out();
    return {run_.position.step >= settings.steps(),
            run_.position.step,
            run_.position.last_loss,
            run_.position.last_accuracy,
            evaluation.loss,
            evaluation.accuracy,
            seconds_since(start_)};
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

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
    gather(data_.inputs, order_, first, count, inputs_);
    gather(data_.targets, order_, first, count, targets_);
    const StepResult result = step_->run(inputs_, targets_);
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
    if (options_.observer) options_.observer(run_.position.step, state);
  }

  Evaluation evaluate_held_out() {
    step_->save(run_.state);
    EvaluateOptions options;
    options.threads = options_.threads;
    return evaluate(run_.state.model, data_.held_out_inputs, data_.held_out_targets, options);
  }

  void end_epoch(std::uint32_t epochs_done) {
    RunPosition& position = run_.position;
    position.last_loss = epoch_loss();
    position.last_accuracy = epoch_accuracy();
    position.loss_sum = 0.0;
    position.correct = 0;
    position.sequences = 0;
    const Evaluation held_out = evaluate_held_out();
    nlohmann::ordered_json line = {{"step", position.step},
                                   {"epoch", epochs_done},
                                   {"loss", position.last_loss},
                                   {"accuracy", position.last_accuracy},
                                   {"held_out_loss", held_out.loss},
                                   {"held_out_accuracy", held_out.accuracy},
                                   {"seconds", log_.seconds() + seconds_since(start_)}};
    if (options_.track_every > 0 &&
        epochs_done % static_cast<std::uint32_t>(options_.track_every) == 0)
      line["layers"] = tracked_layers();
    log_.append(line.dump());
  }

  nlohmann::ordered_json tracked_layers() const {
    auto layers = nlohmann::ordered_json::array();
    for (const LayerTrack& layer :
         track_layers(run_.state.model, data_.held_out_inputs, kTracked, options_.threads))
      layers.push_back({{"mixing_time", layer.mixing_time},
                        {"hitting_time", layer.hitting_time},
                        {"truncated_time", layer.truncated_time},
                        {"fidelity", layer.fidelity},
                        {"best_head_fidelity", layer.best_head_fidelity}});
    return layers;
  }

  void save() {
    step_->save(run_.state);
    write_checkpoint(options_.directory, run_.settings, run_.state, run_.position);
    saved_ = Clock::now();
  }

  StoredRun run_;
  const TrainingData& data_;
  const TrainOptions& options_;
  std::unique_ptr<TrainingStep> step_;
  MetricsLog log_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
  std::vector<std::int32_t> order_;
  std::uint32_t order_epoch_ = 0;
  Sequences inputs_;
  Sequences targets_;
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
  StoredRun run = open_run(settings, options);
  make_directory(options.directory);
  remove_leftovers(options.directory);
  return Trainer(std::move(run), data, options).run();
}

}  // namespace synergraph
