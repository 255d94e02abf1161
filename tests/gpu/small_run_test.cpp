// A little of everything that a GPU does, for compute-sanitizer: scripts/gpu_test.sh --sanitize.
#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/train/cuda/cuda_loss_games.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/make_loss_games.h"

namespace synergraph {
namespace {

/// Two models in training, two steps with batches of two and one, then judged and evaluated.
void run_small(ModelConfig model, Precision precision) {
  const Device device{DeviceKind::kCuda, 0, precision};
  model.vocabulary = 70;
  model.length = 19;
  model.layers = 2;
  FleetSettings settings;
  settings.model = model;
  settings.batch = 2;
  if (const std::string why = refusal(device, settings); !why.empty()) GTEST_SKIP() << why;
  TrainingData data = task_data(find_task("copy"), 1, 3, settings.model);
  data.judged_inputs = data.inputs;
  data.judged_targets = data.targets;
  TrainingState state(settings.model);
  initialise(state.model, 1);
  const std::vector<std::int32_t> rows = {2, 0, 1};
  const auto fleet = make_fleet(device, settings, {});
  const std::vector<int> members = {fleet->add(state, 1, data), fleet->add(state, 2, data)};
  const std::vector<FleetWork> work = {{members[0], rows}, {members[1], rows}};
  for (const auto& results : fleet->run(work))
    for (const StepResult& result : results) EXPECT_TRUE(std::isfinite(result.loss));
  for (const Evaluation& judged : fleet->judge(members)) EXPECT_TRUE(std::isfinite(judged.loss));
  fleet->save(members[0], state);
  const auto evaluator = evaluator_factory(device, state.model)();
  evaluator->run(data.inputs.row(0), data.targets.row(0), [](int, const float*) {});
}

TEST(SmallRun, HasEveryNumberOfHeads) {
  for (const int heads : {1, 2, 4, 8, 16}) run_small({.heads = heads}, Precision::kTf32);
}

TEST(SmallRun, HasNarrowModels) {
  for (const ModelConfig& model : {ModelConfig{.width = 36, .heads = 3, .hidden = 7},
                                   ModelConfig{.width = 20, .heads = 5, .hidden = 33}})
    run_small(model, Precision::kTf32);
}

TEST(SmallRun, InFloat32) {
  for (const int heads : {1, 2, 4, 8, 16}) run_small({.heads = heads}, Precision::kFloat32);
}

/// Games of three heads or fewer, in two launches a sequence and as one, and the control.
void play_small(ModelConfig config) {
  const Device device{DeviceKind::kCuda, 0, Precision::kFloat32};
  config.vocabulary = 70;
  config.length = 19;
  config.layers = 2;
  FleetSettings shape;
  shape.model = config;
  if (const std::string why = refusal(device, shape); !why.empty()) GTEST_SKIP() << why;
  Model model(config);
  initialise(model, 1);
  const Sequences inputs = random_sequences(1, 2, config.length, config.vocabulary);
  const Sequences answers = targets(find_task("cycle"), inputs);
  std::vector<LossGame> games;
  for (const int passes : {5, 64})
    games.push_back(cuda_loss_games(device, model, passes)()->play(inputs, answers, 0, {}));
  EXPECT_EQ(games[0].loss, games[1].loss);
  EXPECT_TRUE(std::isfinite(games[0].loss.back()));
  const auto control =
      loss_games_factory(device, model)()->control(inputs, answers, Ablation::kMean, {});
  EXPECT_TRUE(std::isfinite(control.without_attention.loss));
}

TEST(SmallRun, PlaysGames) {
  for (const ModelConfig& model :
       {ModelConfig{.width = 12, .heads = 3, .hidden = 20}, ModelConfig{.width = 16, .heads = 2},
        ModelConfig{.width = 32, .heads = 2}, ModelConfig{.heads = 2}, ModelConfig{.heads = 1}})
    play_small(model);
}

}  // namespace
}  // namespace synergraph
