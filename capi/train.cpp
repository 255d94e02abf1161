#include <fmt/core.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/io/own_file.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/promoted_json.h"
#include "synergraph/train/run_directory.h"
#include "synergraph/train/run_settings.h"

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

using Given = std::function<bool(std::string_view key)>;

/// What a run is, where it is not a new one what it was.
RunSettings take_run(const char* directory, Options& options, bool own_pairs) {
  require(directory, "directory");
  if (*directory == '\0') throw UsageError("the directory has no name");
  RunSettings run;
  visit_settings(run, TakeSettings(options));
  options.finish();
  if (options.given("task") && own_pairs)
    throw UsageError(fmt::format("{} and pairs exclude each other", option_mark("task")));
  run.out = user_directory(directory);
  if (!run.resume || !has_run(run.out)) return run;
  run.resume_run([&](std::string_view key) { return options.given(key); });
  if (run.train.task == "data" && !own_pairs)
    throw UsageError(fmt::format("{}: the run was trained on pairs of its own: give them again",
                                 state_path(run.out)));
  return run;
}

/// The pairs, and the settings that follow from them unless they are given.
TrainingData data_of(const sg_pairs* pairs, const sg_pairs* validation, const Given& given,
                     RunSettings& run) {
  const TrainSettings& settings = run.train;
  if (pairs == nullptr) {
    if (validation != nullptr) throw UsageError("validation pairs go with training pairs");
    validate(settings);
    return task_data(find_task(settings.task), settings.seed, settings.sequences, settings.model);
  }
  TrainingData data =
      pair_data(pairs_of(*pairs),
                validation != nullptr ? std::optional(pairs_of(*validation)) : std::nullopt);
  run.fit(data, given);
  return data;
}

TrainOutcome train_in(const RunSettings& run, const TrainingData& data, const sg_call* call) {
  std::optional<TrainOutcome> outcome;
  run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
    TrainOptions options = run.options();
    const FleetSettings shape = fleet_settings(run.train);
    options.device = run.choose({&shape, 1}, run.train.sequences);
    options.execution = execution;
    try {
      outcome = train(run.train, data, options);
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
    RunSettings run = take_run(directory, given, pairs != nullptr);
    const TrainingData data = data_of(
        pairs, validation, [&](std::string_view key) { return given.given(key); }, run);
    const TrainOutcome done = train_in(run, data, call);
    const char* judged = data.held_out ? "held_out" : "training_pairs";
    nlohmann::ordered_json json = {{"model", model_path(run.out)},
                                   {"steps", done.step},
                                   {"loss", done.loss},
                                   {"accuracy", done.accuracy},
                                   {fmt::format("{}_loss", judged), done.judged_loss},
                                   {fmt::format("{}_accuracy", judged), done.judged_accuracy}};
    const auto promoted = promoted_json(run.train, done.promoted);
    if (!promoted.is_null()) json["promoted"] = promoted;
    json["seconds"] = done.seconds;
    return copied_text(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  });
}
