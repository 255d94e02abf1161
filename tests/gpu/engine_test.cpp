// Gradients and steps on a GPU, tensor by tensor, against the CPU.
#include "synergraph/train/cuda/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "synergraph/model/dropout.h"
#include "synergraph/train/cpu/batch_gradient.h"
#include "synergraph/train/make_fleet.h"
#include "tests/gpu/agreement.h"

namespace synergraph {
namespace {

constexpr std::uint64_t kSeed = 11;

/// Sizes that fill no tile, chunk or batch.
FleetSettings odd_shape(int heads) {
  FleetSettings settings;
  settings.model = {.vocabulary = 101, .length = 37, .heads = heads, .layers = 3};
  settings.batch = 7;
  return settings;
}

/// A model, and its member of an engine of its own.
struct Bench {
  Bench(const FleetSettings& fleet_settings, Precision precision, int sequences,
        const char* task = "cycle")
      : settings(fleet_settings),
        data(task_data(find_task(task), kSeed, sequences, settings.model)),
        state(settings.model),
        engine(0, {settings.model, settings.adam, settings.dropout, settings.batch, precision}) {
    initialise(state.model, kSeed);
  }

  cuda::Numbers numbers() {
    return {state.model.values().data(), state.first_moment.data(), state.second_moment.data()};
  }
  int add() { return engine.add(numbers(), state.step, kSeed, data); }

  FleetSettings settings;
  TrainingData data;
  TrainingState state;
  cuda::Engine engine;
};

/// Every tensor's gradient of one step.
void expect_gradients(const FleetSettings& settings, Precision precision,
                      const char* task = "cycle") {
  SCOPED_TRACE(testing::Message() << settings.model.heads << " heads, width "
                                  << settings.model.width << ", " << task);
  Bench bench(settings, precision, settings.batch, task);
  bench.engine.keep_gradients();
  const std::vector<std::int32_t> rows = epoch_order(kSeed, 0, settings.batch);
  const cuda::EngineWork work{bench.add(), rows};
  const double loss = bench.engine.run({&work, 1})[0][0].loss;
  const std::vector<float> there = bench.engine.gradient(work.member);

  BatchGradient batch(settings.model, 2);
  Sequences inputs;
  Sequences targets;
  gather(bench.data.inputs, rows, inputs);
  gather(bench.data.targets, rows, targets);
  const StepResult here = batch.compute(bench.state.model.values().data(), inputs, targets,
                                        Dropout(settings.dropout, kSeed, 0));
  const double tolerance = gradient_tolerance(precision, settings);
  // Logits round likewise, and average over all positions.
  EXPECT_NEAR(loss / static_cast<double>(counted(targets.tokens)), here.loss,
              tolerance / 10 * here.loss);
  ASSERT_EQ(there.size(), batch.layout().size());
  for (const ParameterInfo& tensor : batch.layout().tensors()) {
    const std::span g(there.data() + tensor.offset, tensor.size);
    const std::span h(batch.gradient() + tensor.offset, tensor.size);
    // The keys' biases have none at all. Where a query sees but one key its weight is 1: queries
    // and keys have none but the rounding of two equal numbers, each as large as what values get.
    double size = norm(h);
    if (const std::size_t place = tensor.name.find("attn.W_");
        settings.model.length == 1 && place != std::string::npos) {
      std::string values = tensor.name;
      values[place + 7] = 'v';
      const ParameterInfo& other = batch.layout().find(values);
      size = norm(std::span(batch.gradient() + other.offset, other.size));
    }
    EXPECT_LE(distance(g, h), tolerance * size) << tensor.name;
  }
}

class CudaEngineTest : public testing::TestWithParam<std::tuple<int, Precision>> {
 protected:
  void SetUp() override {
    const std::string why = refusal({DeviceKind::kCuda}, odd_shape(heads()));
    if (!why.empty()) GTEST_SKIP() << why;
  }
  static int heads() { return std::get<0>(GetParam()); }
  static Precision precision() { return std::get<1>(GetParam()); }
};

TEST_P(CudaEngineTest, GradientsAgreeWithTheCpu) {
  FleetSettings settings;
  settings.model.heads = heads();
  settings.model.layers = 2;
  settings.batch = 10;
  expect_gradients(settings, precision());
}

TEST_P(CudaEngineTest, SoDoThoseOfOddSizes) {
  expect_gradients(odd_shape(heads()), precision());
}

// In recall the same positions of all sequences have a target, in majority others in each.
TEST_P(CudaEngineTest, SoDoThoseOfTargetsThatDoNotCount) {
  for (const char* task : {"recall", "majority"})
    expect_gradients(odd_shape(heads()), precision(), task);
}

TEST_P(CudaEngineTest, SoDoThoseWithoutDropoutAndWithMuch) {
  FleetSettings settings = odd_shape(heads());
  for (const double dropout : {0.0, 0.5}) {
    settings.dropout = dropout;
    expect_gradients(settings, precision());
  }
}

// Ten steps. Moments are means of gradients and of their squares: they are as far off as these, in
// models that drift apart meanwhile, which doubles it; squares double it again. A step of Adam is
// about the learning rate whatever the gradient's size, so that entries whose gradient is within
// the noise of its tensor may go anywhere: of the others, here those with a first moment beyond the
// root mean square, a step is off by the gradient's share and that of the root of the second
// moment's.
void expect_ten_steps(const FleetSettings& settings, Precision precision) {
  constexpr int kSteps = 10;
  Bench bench(settings, precision, kSteps * settings.batch);
  const TrainingState start = bench.state;
  const std::vector<std::int32_t> rows = epoch_order(kSeed, 0, kSteps * settings.batch);
  const auto cpu = make_fleet({}, settings, {.threads = 2});
  const FleetWork cpu_work{cpu->add(start, kSeed, bench.data), rows};
  const std::vector<StepResult> here = cpu->run({&cpu_work, 1})[0];
  TrainingState expected(settings.model);
  cpu->save(cpu_work.member, expected);

  const cuda::EngineWork work{bench.add(), rows};
  const std::vector<cuda::EngineResult> there = bench.engine.run({&work, 1})[0];
  EXPECT_EQ(bench.engine.save(work.member, bench.numbers()), std::uint32_t{kSteps});

  const double tolerance = gradient_tolerance(precision, settings);
  ASSERT_EQ(here.size(), std::size_t{kSteps});
  ASSERT_EQ(there.size(), std::size_t{kSteps});
  for (std::size_t k = 0; k < here.size(); ++k)
    EXPECT_NEAR(there[k].loss / settings.batch / settings.model.length, here[k].loss,
                tolerance / 10 * here[k].loss)
        << k;
  for (const ParameterInfo& tensor : expected.model.layout().tensors()) {
    const auto part = [&](const auto& all) {
      return std::span<const float>(all.data() + tensor.offset, tensor.size);
    };
    const auto first = part(expected.first_moment);
    const auto second = part(expected.second_moment);
    EXPECT_LE(distance(part(bench.state.first_moment), first), 2 * tolerance * norm(first))
        << tensor.name;
    EXPECT_LE(distance(part(bench.state.second_moment), second), 4 * tolerance * norm(second))
        << tensor.name;
    const auto before = part(start.model.values());
    const auto now = part(bench.state.model.values());
    const auto wanted = part(expected.model.values());
    const double noise = norm(first) / std::sqrt(static_cast<double>(tensor.size));
    double square = 0.0;
    int count = 0;
    for (std::size_t k = 0; k < tensor.size; ++k) {
      // No step is longer than (1 - beta1) / sqrt(1 - beta2) times the rate.
      EXPECT_LE(std::abs(now[k] - before[k]), kSteps * 3.2 * settings.adam.learning_rate);
      if (std::abs(first[k]) < noise) continue;
      square += std::pow(double{now[k]} - double{wanted[k]}, 2.0);
      ++count;
    }
    EXPECT_LE(std::sqrt(square / std::max(count, 1)),
              kSteps * 2 * tolerance * settings.adam.learning_rate)
        << tensor.name;
  }
}

TEST_P(CudaEngineTest, TenStepsAgreeWithTheCpu) {
  expect_ten_steps(odd_shape(heads()), precision());
}

// A parameter that is no number, in any tensor: the loss is none either, in the next step at the
// latest.
TEST_P(CudaEngineTest, ALossOfNoNumbersIsNone) {
  FleetSettings settings = odd_shape(heads());
  settings.model.layers = 2;
  const std::vector<std::int32_t> rows = epoch_order(kSeed, 0, settings.batch);
  const ParameterLayout layout(settings.model);
  const auto loss_of = [&](const auto& change) {
    Bench bench(settings, precision(), settings.batch);
    change(bench.state.model);
    const cuda::EngineWork work{bench.add(), rows};
    bench.engine.run({&work, 1});
    return bench.engine.run({&work, 1})[0][0].loss;
  };
  EXPECT_TRUE(std::isfinite(loss_of([](Model&) {})));
  for (const ParameterInfo& tensor : layout.tensors())
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const double loss = loss_of([&](Model& model) {
        // All of it where a batch may use a part alone.
        const std::size_t count = tensor.name == "token_emb.weight" ? tensor.size : 1;
        std::fill_n(model.values().data() + tensor.offset, count, value);
      });
      EXPECT_FALSE(loss < 1e30) << tensor.name << " " << value;
    }
}

// Parameters that are lost in one call are known in the next.
TEST_P(CudaEngineTest, ItIsKnownInTheNextCall) {
  FleetSettings settings = odd_shape(heads());
  settings.adam.learning_rate = 1e38;
  Bench bench(settings, precision(), settings.batch);
  const std::vector<std::int32_t> rows = epoch_order(kSeed, 0, settings.batch);
  const cuda::EngineWork work{bench.add(), rows};
  EXPECT_TRUE(std::isfinite(bench.engine.run({&work, 1})[0][0].loss));
  EXPECT_FALSE(bench.engine.run({&work, 1})[0][0].loss < 1e30);
  EXPECT_FALSE(bench.engine.run({&work, 1})[0][0].loss < 1e30);
}

// Tiles of positions and chunks of tokens that are just filled, or just not.
TEST(CudaEngine, EdgesOfTilesAgreeWithTheCpu) {
  for (const Precision precision : {Precision::kTf32, Precision::kFloat32})
    for (const auto& [length, vocabulary] :
         {std::pair{1, 64}, std::pair{8, 65}, std::pair{9, 2}, std::pair{104, 256}}) {
      FleetSettings settings = odd_shape(8);
      settings.model.length = length;
      settings.model.vocabulary = vocabulary;
      if (const std::string why = refusal({DeviceKind::kCuda}, settings); !why.empty())
        GTEST_SKIP() << why;
      expect_gradients(settings, precision);
    }
}

TEST(CudaEngine, NarrowModelsAgreeWithTheCpu) {
  for (const ModelConfig& model : narrow_models())
    for (const Precision precision : {Precision::kTf32, Precision::kFloat32}) {
      FleetSettings settings = odd_shape(1);
      settings.model = model;
      if (const std::string why = refusal({DeviceKind::kCuda}, settings); !why.empty())
        GTEST_SKIP() << why;
      expect_gradients(settings, precision);
      expect_ten_steps(settings, precision);
    }
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaEngineTest,
                         testing::Combine(testing::Values(1, 2, 4, 8, 16),
                                          testing::Values(Precision::kTf32, Precision::kFloat32)));

}  // namespace
}  // namespace synergraph
