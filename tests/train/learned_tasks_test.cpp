#include <gtest/gtest.h>

#include <filesystem>

#include "synergraph/model/loss_game.h"
#include "synergraph/train/trainer.h"

namespace synergraph {
namespace {

/// A small model of one layer, trained for a tenth of a second, with its control on held-out
/// sequences.
AttentionControl control_of_trained(const char* task) {
  TrainSettings settings;
  settings.task = task;
  settings.model = {
      .vocabulary = 8, .length = 12, .width = 16, .heads = 2, .layers = 1, .hidden = 16};
  settings.sequences = 1000;
  settings.epochs = 12;
  settings.seed = 1;
  settings.dropout = 0.0;
  settings.adam.learning_rate = 0.005;
  const TrainingData data =
      task_data(find_task(task), settings.seed, settings.sequences, settings.model);
  TrainOptions options;
  options.directory = testing::TempDir() + "/learned_" + task;
  std::filesystem::remove_all(options.directory);
  const TrainOutcome outcome = train(settings, data, options);
  std::filesystem::remove_all(options.directory);
  AttentionControl control =
      attention_control(outcome.model, data.judged_inputs, data.judged_targets);
  EXPECT_NEAR(control.intact.accuracy, outcome.judged_accuracy, 1e-12);
  return control;
}

// What the model loses without attention is what the task asks of attention. One small layer does
// not learn all of recall and little of parity; copying loses little.
TEST(LearnedTasks, NeedAttentionExceptCopying) {
  for (const char* task : {"recall", "delayed-copy", "maximum", "second-maximum", "majority"}) {
    const AttentionControl control = control_of_trained(task);
    EXPECT_FALSE(needs_no_attention(control)) << task;
    EXPECT_GT(control.intact.accuracy, control.without_attention.accuracy + 0.2) << task;
    EXPECT_EQ(control.without_attention.loss, control.without_layer.at(0).loss) << task;
  }
  const AttentionControl parity = control_of_trained("parity");
  EXPECT_GT(parity.intact.accuracy, parity.without_attention.accuracy + 0.05);
  const AttentionControl copy = control_of_trained("copy");
  EXPECT_GT(copy.without_attention.accuracy, 0.95);
}

}  // namespace
}  // namespace synergraph
