#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "synergraph/train/cpu/batch_gradient.h"
#include "synergraph/train/cpu/cpu_fleet.h"
#include "tests/model/tiny_model.h"
#include "tests/train/repeated_batch.h"

namespace synergraph {
namespace {

double largest(const float* values, std::size_t count) {
  double result = 0.0;
  for (std::size_t k = 0; k < count; ++k)
    result = std::max(result, static_cast<double>(std::fabs(values[k])));
  return result;
}

/// Every tensor of `actual` agrees with `expected` to 1e-5 of the tensor's largest entry.
void expect_close(const Model& expected, const float* actual, const std::string& what) {
  for (const ParameterInfo& tensor : expected.layout().tensors()) {
    const float* want = expected.tensor(tensor.name);
    const double tolerance = 1e-5 * largest(want, tensor.size);
    for (std::size_t k = 0; k < tensor.size; ++k)
      ASSERT_NEAR(actual[tensor.offset + k], want[k], tolerance)
          << what << " of " << tensor.name << " at " << k;
  }
}

TEST(Gradient, AgreesWithTheReference) {
  const TinyReference reference;
  const Model model = reference.model("init");
  BatchGradient gradient(reference.config, 1);
  const StepResult result =
      gradient.compute(model.values().data(), reference.inputs, reference.targets, Dropout());
  EXPECT_NEAR(result.loss, reference.file.at("losses").values<double>()[0], 1e-6);

  std::vector<float> total(gradient.layout().size());
  std::copy_n(gradient.gradient(), total.size(), total.data());
  Model expected = reference.model("grad");
  // Zero in exact arithmetic; the reference has its rounding errors there.
  for (const char* name : {"layers.0.attn.W_k.bias", "layers.1.attn.W_k.bias"}) {
    const ParameterInfo& tensor = gradient.layout().find(name);
    EXPECT_LT(largest(expected.tensor(name), tensor.size), 1e-16);
    std::fill_n(expected.tensor(name), tensor.size, 0.0F);
  }
  expect_close(expected, total.data(), "gradient");
}

TEST(Step, TenAdamStepsAgreeWithTheReference) {
  const TinyReference reference;
  TrainingState state(reference.config);
  state.model = reference.model("init");
  RepeatedBatch fleet({.model = reference.config, .adam = {}, .dropout = 0.0}, state, 0,
                      reference.inputs, reference.targets, 2);
  const auto losses = reference.file.at("losses").values<double>();
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(fleet.step().loss, losses[k], 1e-5);
    fleet.save(state);
    if (k == 0) expect_close(reference.model("after1"), state.model.values().data(), "step 1");
  }
  expect_close(reference.model("after10"), state.model.values().data(), "step 10");
  EXPECT_EQ(state.step, 10U);
}

TEST(Step, DrawsTheMasksOfItsNumber) {
  const ModelConfig config{
      .vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
  TrainingState state(config);
  initialise(state.model, 5);
  const Sequences inputs = random_sequences(1, 6, config.length, config.vocabulary);
  RepeatedBatch fleet({.model = config, .adam = {}, .dropout = 0.3}, state, 17, inputs, inputs);
  BatchGradient gradient(config, 1);
  for (std::uint32_t number = 0; number < 3; ++number) {
    const Dropout dropout(0.3, 17, number);  // steps are counted from 0
    const StepResult expected =
        gradient.compute(state.model.values().data(), inputs, inputs, dropout);
    const StepResult result = fleet.step();
    EXPECT_EQ(result.loss, expected.loss);
    EXPECT_EQ(result.correct, expected.correct);
    fleet.save(state);
  }
}

/// The largest entry of each tensor's gradient is checked against the slope of the loss along the
/// gradient itself: d/dt loss(p + t g) = |g|^2 at t = 0.
void expect_slopes(const ModelConfig& config, const Dropout& dropout) {
  Model model(config);
  initialise(model, 5);
  const Sequences inputs = random_sequences(1, 13, config.length, config.vocabulary);
  const Sequences answers = targets(find_task("cycle"), inputs);
  BatchGradient batch(config, 1);
  std::vector<float> gradient(batch.layout().size());
  batch.compute(model.values().data(), inputs, answers, dropout);
  std::copy_n(batch.gradient(), gradient.size(), gradient.data());
  for (const ParameterInfo& tensor : batch.layout().tensors()) {
    double square = 0.0;
    for (std::size_t k = 0; k < tensor.size; ++k)
      square += std::pow(gradient[tensor.offset + k], 2);
    if (tensor.name.find("W_k.bias") != std::string::npos) {
      EXPECT_EQ(square, 0.0);
      continue;
    }
    ASSERT_GT(square, 0.0) << tensor.name;
    const double step = 4e-3 / std::sqrt(square);
    const auto loss_at = [&](double t) {
      AlignedVector<float> moved = model.values();
      for (std::size_t k = 0; k < tensor.size; ++k)
        moved[tensor.offset + k] += static_cast<float>(t * gradient[tensor.offset + k]);
      return batch.compute(moved.data(), inputs, answers, dropout).loss;
    };
    const double slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
    EXPECT_NEAR(slope / square, 1.0, 0.02) << tensor.name;
  }
}

// The loss is a mean over the targets that count: means over two sets of positions, weighted by
// their sizes, add up to the mean over all, and so do their gradients.
TEST(Gradient, CountsEveryTargetOnceWhereverItIs) {
  const ModelConfig config{
      .vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
  Model model(config);
  initialise(model, 5);
  const Sequences inputs = random_sequences(1, 6, config.length, config.vocabulary);
  const Sequences all = targets(find_task("cycle"), inputs);
  std::array<Sequences, 2> parts = {all, all};
  for (std::size_t k = 0; k < all.tokens.size(); ++k)
    parts[k % 3 == 0 ? 0 : 1].tokens[k] = kIgnored;
  BatchGradient batch(config, 1);
  const Dropout dropout(0.3, 17, 4);
  const auto count = static_cast<double>(all.tokens.size());
  std::vector<double> sums(batch.layout().size());
  double loss = 0.0;
  double judged = 0.0;
  std::int64_t correct = 0;
  for (const Sequences& part : parts) {
    const double share = static_cast<double>(counted(part.tokens)) / count;
    const StepResult result = batch.compute(model.values().data(), inputs, part, dropout);
    loss += share * result.loss;
    correct += result.correct;
    judged += share * evaluate(model, inputs, part).loss;
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += share * batch.gradient()[k];
  }
  const StepResult whole = batch.compute(model.values().data(), inputs, all, dropout);
  EXPECT_NEAR(loss, whole.loss, 1e-12);
  EXPECT_EQ(correct, whole.correct);
  EXPECT_NEAR(judged, evaluate(model, inputs, all).loss, 1e-12);
  double largest = 0.0;
  for (std::size_t k = 0; k < sums.size(); ++k)
    largest = std::max(largest, std::abs(static_cast<double>(batch.gradient()[k])));
  for (std::size_t k = 0; k < sums.size(); ++k)
    ASSERT_NEAR(sums[k], batch.gradient()[k], 1e-5 * largest)
        << k;  // float32 sums of 126 positions
}

// Batches with different numbers of targets: every target has the same weight, so the mean of the
// steps' losses, weighted by sequences, is the mean over all targets.
TEST(Step, GivesEveryTargetTheSameWeight) {
  const ModelConfig config{
      .vocabulary = 5, .length = 9, .width = 8, .heads = 2, .layers = 1, .hidden = 8};
  TrainingState state(config);
  initialise(state.model, 5);
  TrainingData data;
  data.inputs = random_sequences(1, 5, config.length, config.vocabulary);
  data.targets = targets(find_task("majority"), data.inputs);
  std::fill_n(data.targets.tokens.begin(), 2 * config.length - 1,
              kIgnored);  // one in two sequences
  data.judged_inputs = data.inputs;
  data.judged_targets = data.targets;
  // A rate this small changes nothing that the loss shows.
  const auto fleet = make_cpu_fleet(
      {.model = config, .adam = {.learning_rate = 1e-12}, .dropout = 0.0, .batch = 2}, {});
  const int member = fleet->add(state, 1, data);
  const std::vector<std::int32_t> rows = {0, 1, 2, 3, 4};
  const FleetWork work{member, rows};
  const std::vector<StepResult> steps = fleet->run({&work, 1})[0];
  const Evaluation judged = fleet->judge({&member, 1})[0];
  EXPECT_NEAR((2 * steps[0].loss + 2 * steps[1].loss + steps[2].loss) / 5, judged.loss, 1e-6);
  EXPECT_LT(steps[0].loss, steps[1].loss);
  EXPECT_NEAR(judged.accuracy * static_cast<double>(counted(data.targets.tokens)),
              static_cast<double>(steps[0].correct + steps[1].correct + steps[2].correct), 1e-9);
}

TEST(Gradient, IsTheSlopeOfTheLossForAnyShapeWithAndWithoutDropout) {
  const std::vector<ModelConfig> configs = {
      {.vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24},
      {.vocabulary = 8, .length = 33, .width = 6, .heads = 2, .layers = 1, .hidden = 5},
      {.vocabulary = 9, .length = 8, .width = 32, .heads = 2, .layers = 1, .hidden = 16},
      {.vocabulary = 5, .length = 5, .width = 20, .heads = 1, .layers = 1, .hidden = 7},
  };
  for (const ModelConfig& config : configs) {
    SCOPED_TRACE(config.length);
    expect_slopes(config, Dropout());
    expect_slopes(config, Dropout(0.3, 17, 4));
  }
}

/// A batch's sequences share sums, and the table of the first layer; neither may change what a
/// sequence adds to the gradient.
TEST(Gradient, IsTheSumOverTheSequencesEachAlone) {
  const std::vector<ModelConfig> configs = {
      {.vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24},
      {.vocabulary = 9, .length = 8, .width = 12, .heads = 3, .layers = 2, .hidden = 16},
      {.vocabulary = 5, .length = 3, .width = 6, .heads = 1, .layers = 1, .hidden = 7},
      {.vocabulary = 5, .length = 100, .width = 8, .heads = 2, .layers = 1, .hidden = 8},
  };
  for (const ModelConfig& config : configs) {
    SCOPED_TRACE(config.length);
    Model model(config);
    initialise(model, 5);
    const Sequences inputs = random_sequences(1, 26, config.length, config.vocabulary);
    const Sequences answers = targets(find_task("cycle"), inputs);
    const Dropout dropout(0.2, 3, 1);
    BatchGradient batch(config, 2);
    const StepResult result = batch.compute(model.values().data(), inputs, answers, dropout);
    std::vector<float> together(batch.layout().size());
    std::copy_n(batch.gradient(), together.size(), together.data());

    AlignedVector<float> transposed(batch.layout().size());
    transpose_weights(config, model.tensors(),
                      tensors_of(config, batch.layout(), transposed.data()));
    SequenceBackward backward(config);
    const float scale = 1.0F / static_cast<float>(inputs.count * inputs.length);
    std::vector<double> sum(together.size());
    double loss = 0.0;
    for (int place = 0; place < inputs.count; ++place) {
      AlignedVector<float> alone(together.size(), 0.0F);
      Turn::Progress progress{0};
      Turn turn(nullptr, &progress);
      loss +=
          backward
              .run({model.tensors(),
                    tensors_of<const float>(config, batch.layout(), transposed.data()), nullptr},
                   {inputs.row(place), answers.row(place), place, dropout, scale},
                   {tensors_of(config, batch.layout(), alone.data()), nullptr}, Into::kReplace,
                   turn)
              .loss;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += alone[k];
    }
    EXPECT_NEAR(result.loss, loss / (inputs.count * inputs.length), 1e-6 * result.loss);
    Model expected(config);
    std::transform(sum.begin(), sum.end(), expected.values().begin(),
                   [](double value) { return static_cast<float>(value); });
    expect_close(expected, together.data(), "gradient");
  }
}

TEST(Gradient, DoesNotDependOnTheNumberOfThreads) {
  const ModelConfig config{
      .vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
  Model model(config);
  initialise(model, 5);
  const Sequences inputs = random_sequences(1, 23, config.length, config.vocabulary);
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    BatchGradient batch(config, threads);
    batch.compute(model.values().data(), inputs, inputs, Dropout(0.2, 3, 1));
    std::vector<float> gradient(batch.layout().size());
    std::copy_n(batch.gradient(), gradient.size(), gradient.data());
    if (first.empty()) first = gradient;
    EXPECT_EQ(gradient, first);
  }
}

}  // namespace
}  // namespace synergraph
