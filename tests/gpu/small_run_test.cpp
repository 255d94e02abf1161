// A little of everything that a GPU does, for compute-sanitizer: scripts/gpu_test.sh --sanitize.
#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_fleet.h"

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

}  // namespace
}  // namespace synergraph
