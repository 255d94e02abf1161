#include "synergraph/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/io/own_file.h"
#include "synergraph/train/loop.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/promoted_json.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/tracking.h"

namespace synergraph {
namespace {

/// Judged sequences whose attention is tracked.
constexpr int kTracked = 10;

/// Keeps a run's directory and its progress up to date while the loop trains it.
class Recorder : public LoopHooks {
 public:
  Recorder(const TrainJob& job, const TrainSetOptions& options)
      : data_(job.data),
        sequence_positions_(counted_per_sequence(data_.targets)),
        options_(options),
        directory_(job.directory, !options.claimed),
        run_(directory_.open(
            job.settings, {0.0, options.track_every, job.data.held_out, {describe(options.device)}},
            options.resume)),
        progress_("steps", run_.settings.steps(), run_.position.step, job.progress) {}

  LoopRun loop_run() { return {run_, data_, *this}; }

  TrainOutcome outcome(const Evaluation& judged) {
    const RunPosition& position = run_.position;
    return {run_.finished(),
            position.step,
            position.last_loss,
            position.last_accuracy,
            judged.loss,
            judged.accuracy,
            directory_.seconds(),
            directory_.devices(),
            position.last_promoted,
            std::move(run_.state.model)};
  }

  void step_done() override {
    progress_.update(run_.position.step,
                     fmt::format("epoch {}/{}  loss {:.4g}  accuracy {:.4f}", epochs_begun(),
                                 run_.settings.epochs, run_.epoch_loss(),
                                 std::min(1.0, run_.epoch_accuracy(sequence_positions_))));
  }

  void epoch_done(const Evaluation& judged, const Fetch& fetch) override {
    const std::string judged_on = data_.held_out ? "held_out" : "training_pairs";
    nlohmann::ordered_json line = {
        {"step", run_.position.step},       {"epoch", epochs_begun()},
        {"loss", run_.position.last_loss},  {"accuracy", run_.position.last_accuracy},
        {judged_on + "_loss", judged.loss}, {judged_on + "_accuracy", judged.accuracy}};
    const auto promoted = promoted_json(run_.settings, run_.position.last_promoted);
    if (!promoted.is_null()) line["promoted"] = promoted;
    line["seconds"] = directory_.seconds();
    if (options_.track_every > 0 &&
        epochs_begun() % static_cast<std::uint64_t>(options_.track_every) == 0) {
      fetch();
      try {
        line["layers"] = tracked_layers();
      } catch (const Stopped&) {  // this epoch is not tracked; the run ends with a checkpoint
      }
    }
    directory_.append_to_log(line.dump());
  }

  void pause(const Fetch& fetch) override {
    if (directory_.seconds_since_checkpoint() < options_.checkpoint_interval) return;
    fetch();
    directory_.write_checkpoint(run_);
  }

  void ended() override {
    progress_.finish();
    directory_.write_checkpoint(run_);
  }

 private:
  std::uint64_t epochs_begun() const {
    const auto per_epoch = static_cast<std::uint64_t>(run_.settings.steps_per_epoch());
    return (run_.position.step + per_epoch - 1) / per_epoch;
  }

  nlohmann::ordered_json tracked_layers() const {
    auto layers = nlohmann::ordered_json::array();
    for (const LayerTrack& layer :
         track_layers(run_.state.model, data_.judged_inputs, kTracked, options_.execution)) {
      nlohmann::ordered_json& numbers = layers.emplace_back();
      for (const auto& [key, quantity] : kTrackedQuantities) numbers[key] = layer.at(quantity);
    }
    return layers;
  }

  const TrainingData& data_;
  double sequence_positions_;
  const TrainSetOptions& options_;
  RunDirectory directory_;
  TrainingRun run_;
  Progress progress_;
};

void require_valid(const TrainSettings& settings, const TrainingData& data) {
  validate(settings);
  require_fitting(settings.model, data.inputs, "inputs");
  require_fitting_targets(settings.model, data.targets, "targets");
  if (data.inputs.count != settings.sequences || data.targets.count != settings.sequences)
    throw InputError(fmt::format("{} inputs and {} targets for {} training sequences",
                                 data.inputs.count, data.targets.count, settings.sequences));
  require_fitting(settings.model, data.judged_inputs, "validation inputs");
  require_fitting_targets(settings.model, data.judged_targets, "validation targets");
}

}  // namespace

std::vector<TrainResult> train_set(const std::vector<TrainJob>& jobs,
                                   const TrainSetOptions& options) {
  if (jobs.empty()) return {};
  const FleetSettings common = fleet_settings(jobs.front().settings);
  for (const TrainJob& job : jobs) {
    require_valid(job.settings, job.data);
    if (fleet_settings(job.settings) != common)
      throw UsageError(fmt::format("{}: not of the same shape as the first run", job.directory));
  }
  const std::unique_ptr<Fleet> fleet = make_fleet(options.device, common, options.execution);
  std::vector<TrainResult> results(jobs.size());
  std::vector<std::unique_ptr<Recorder>> recorders(jobs.size());
  std::vector<LoopRun> runs;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    try {
      recorders[k] = std::make_unique<Recorder>(jobs[k], options);
      runs.push_back(recorders[k]->loop_run());
    } catch (...) {
      results[k].error = std::current_exception();
    }
  }
  const std::vector<LoopResult> ends = run_loop(*fleet, runs, options.execution.stop);
  auto end = ends.begin();
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    if (results[k].error) continue;
    if (end->error)
      results[k].error = end->error;
    else
      results[k].outcome = recorders[k]->outcome(end->judged);
    ++end;
  }
  return results;
}

TrainOutcome train(const TrainSettings& settings, const TrainingData& data,
                   const TrainOptions& options) {
  std::vector<TrainResult> results = train_set(
      {{settings, data, user_directory(options.directory), options.execution.progress}}, options);
  if (results.front().error) std::rethrow_exception(results.front().error);
  return std::move(*results.front().outcome);
}

}  // namespace synergraph
