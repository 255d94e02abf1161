#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/input_settings.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/error.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/model/load_model.h"
#include "synergraph/model/tasks.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_loss_games.h"

/// A model, which attention that it makes shares.
struct sg_model {
  std::shared_ptr<const synergraph::Model> model;
  bool heads_from_name = false;
};

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

namespace {

constexpr std::int64_t kMostSamples = 100000000;

/// A copy of sequences that have the model's length.
Sequences sequences_of(const ModelConfig& config, const std::int32_t* tokens, std::int64_t samples,
                       std::int64_t length) {
  require(tokens, "tokens");
  if (samples < 1 || samples > kMostSamples)
    throw InputError(fmt::format("{} sequences, expected 1 to {}", samples, kMostSamples));
  if (length != config.length)
    throw InputError(
        fmt::format("sequences of {} tokens, the model takes {}", length, config.length));
  return {static_cast<int>(samples), config.length, {tokens, tokens + samples * length}};
}

}  // namespace

int sg_model_open(const char* path, const char* options, sg_model** model) {
  return making(model, [&] {
    require(path, "path");
    const int heads = take_settings<CheckpointSettings>(options).heads.value_or(0);
    const TensorFile file = TensorFile::open(path);
    auto made = std::make_unique<sg_model>();
    made->model = std::make_shared<const Model>(load_model(file, heads));
    made->heads_from_name = head_count(file, heads).from_name;
    return made.release();
  });
}

int sg_model_json(const sg_model* model, char** text) {
  return making(text, [&] {
    require(model, "model");
    const ModelConfig& config = model->model->config();
    const nlohmann::ordered_json json = {
        {"vocabulary", config.vocabulary}, {"length", config.length}, {"width", config.width},
        {"heads", config.heads},           {"layers", config.layers}, {"hidden", config.hidden}};
    return copied_text(json.dump());
  });
}

int sg_model_run(const sg_model* model, const int32_t* tokens, int64_t samples, int64_t length,
                 const sg_call* call, float* logits, size_t count) {
  return guarded([&] {
    require(model, "model");
    const Model& of = *model->model;
    const Sequences inputs = sequences_of(of.config(), tokens, samples, length);
    require_buffer(logits, count, {samples, length, of.config().vocabulary});
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      const Evaluation outcome =
          evaluate(of, inputs, inputs, {.want_logits = true, .execution = execution});
      std::copy(outcome.logits.begin(), outcome.logits.end(), logits);
    });
  });
}

int sg_model_attention(const sg_model* model, const int32_t* tokens, int64_t samples,
                       int64_t length, const char* options, sg_attention** attention) {
  return making(attention, [&] {
    require(model, "model");
    const auto settings = take_settings<ModelAttentionSettings>(options);
    const SequenceSettings& drawn = settings.sequences;
    auto made = std::make_unique<sg_attention>();
    made->model = model->model;
    made->heads_from_name = model->heads_from_name;
    made->range = settings.tokens.range.value_or(TokenRange());
    made->task = drawn.task;
    if (tokens != nullptr && (drawn.samples || drawn.seed))
      throw UsageError(fmt::format("{} and {} draw sequences: they exclude tokens",
                                   option_mark("samples"), option_mark("seed")));
    if (tokens == nullptr && (samples != 0 || length != 0)) require(tokens, "tokens");
    const ModelConfig& config = made->model->config();
    const Task* judge = made->task.empty() ? nullptr : &find_task(made->task);
    Sequences sequences =
        tokens != nullptr
            ? sequences_of(config, tokens, samples, length)
            : random_inputs(judge == nullptr ? Task{} : *judge, drawn.seed.value_or(1),
                            drawn.samples.value_or(50), config.length, config.vocabulary);
    const Device chosen = choose_evaluating(settings.device, config);
    if (chosen.kind != DeviceKind::kCpu) made->device = describe(chosen);
    made->source =
        std::make_unique<ModelAttention>(*made->model, std::move(sequences), judge, made->range,
                                         evaluator_factory(chosen, *made->model), TokenChoice(),
                                         loss_games_factory(chosen, *made->model));
    made->weights = weights_of_model(*made->model);
    made->weights_from = "learned";
    return made.release();
  });
}

void sg_model_free(sg_model* model) {
  delete model;
}
