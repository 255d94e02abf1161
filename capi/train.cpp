#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/train_options.h"
#include "synergraph/core/error.h"
#include "synergraph/io/own_file.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/trainer.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();

Pairs pairs_of(const sg_pairs& given) {
  require(given.inputs, "inputs");
  require(given.targets, "targets");
  if (given.count < 1 || given.length < 1 || given.count > kMostTokens / given.length)
    throw InputError(fmt::format("pairs of shape ({}, {})", given.count, given.length));
  const auto copied = [&](const std::int32_t* tokens) {
    return Sequences{static_cast<int>(given.count),
                     static_cast<int>(given.length),
                     {tokens, tokens + given.count * given.length}};
  };
  return {copied(given.inputs), copied(given.targets)};
}

/// What a run is, where it is not a new one what it was.
struct Request {
  TrainSettings settings;
  TrainOptions options;
  DeviceChoice device;
};

Request take_request(const char* directory, Options& given, bool own_pairs) {
  require(directory, "directory");
  if (*directory == '\0') throw UsageError("the directory has no name");
  Request request;
  TrainOptions& options = request.options;
  options.directory = user_directory(directory);
  options.resume = given.take_bool("resume").value_or(false);
  if (options.resume && has_run(options.directory)) {
    request.settings = read_settings(options.directory);
    if (request.settings.task == "data" && !own_pairs)
      throw UsageError(fmt::format("{}: the run was trained on pairs of its own: give them again",
                                   state_path(options.directory)));
    if (const auto notes = read_notes(options.directory)) options.track_every = notes->track_every;
  }
  const auto task = given.take_text("task");
  if (task && own_pairs) throw UsageError("options: task and pairs exclude each other");
  request.settings.task = task.value_or(request.settings.task);
  options.checkpoint_interval = take_checkpoint_interval(given);
  options.track_every = static_cast<int>(
      given.take_count("track", 0, std::numeric_limits<int>::max()).value_or(options.track_every));
  request.device = take_device(given);
  return request;
}

/// The pairs, and the settings that follow from them unless they are given.
TrainingData data_of(const sg_pairs* pairs, const sg_pairs* validation, const Given& has,
                     TrainSettings& settings) {
  if (pairs == nullptr) {
    if (validation != nullptr) throw UsageError("validation pairs go with training pairs");
    validate(settings);
    return task_data(find_task(settings.task), settings.seed, settings.sequences, settings.model);
  }
  TrainingData data =
      pair_data(pairs_of(*pairs),
                validation != nullptr ? std::optional(pairs_of(*validation)) : std::nullopt);
  if (has.sequences && settings.sequences != data.inputs.count)
    throw UsageError(fmt::format("options: {} sequences, but there are {} pairs",
                                 settings.sequences, data.inputs.count));
  settings.sequences = data.inputs.count;
  if (!has.length) settings.model.length = data.inputs.length;
  if (!has.batch) settings.batch = std::min(settings.batch, settings.sequences);
  settings.task = "data";
  settings.data = fingerprint(data);
  return data;
}

TrainOutcome train_in(const Request& request, const TrainingData& data, const sg_call* call) {
  std::optional<TrainOutcome> outcome;
  run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
    TrainOptions options = request.options;
    const FleetSettings shape = fleet_settings(request.settings);
    options.device = request.device.choose({&shape, 1}, request.settings.sequences);
    options.execution = execution;
    try {
      outcome = train(request.settings, data, options);
    } catch (const RunConflict& conflict) {
      throw UsageError(std::string(conflict.what()) +
                       (conflict.kind() == RunConflict::Kind::kExists
                            ? ": resume it, or choose another directory"
                            : ": give validation pairs again"));
    }
    if (!outcome->finished) throw Stopped();
  });
  return std::move(outcome.value());
}

}  // namespace

int sg_train(const char* directory, const char* options, const sg_pairs* pairs,
             const sg_pairs* validation, const sg_call* call, char** outcome) {
  return making(outcome, [&] {
    Options given(options);
    Request request = take_request(directory, given, pairs != nullptr);
    const Given has = take_settings(given, request.settings, {});
    given.finish();
    const TrainingData data = data_of(pairs, validation, has, request.settings);
    const TrainOutcome done = train_in(request, data, call);
    const char* judged = data.held_out ? "held_out" : "training_pairs";
    const nlohmann::ordered_json json = {{"model", model_path(request.options.directory)},
                                         {"steps", done.step},
                                         {"loss", done.loss},
                                         {"accuracy", done.accuracy},
                                         {fmt::format("{}_loss", judged), done.judged_loss},
                                         {fmt::format("{}_accuracy", judged), done.judged_accuracy},
                                         {"seconds", done.seconds}};
    return copied_text(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  });
}
