// A model run on a GPU, against the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/core/parallel.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_fleet.h"
#include "tests/gpu/agreement.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;

constexpr Device kCard{DeviceKind::kCuda};

/// A model whose numbers are `gain` times those before training.
Model model_of(const ModelConfig& config, float gain = 1.0F) {
  Model model(config);
  initialise(model, 7);
  for (float& value : model.values()) value *= gain;
  return model;
}

/// What an evaluator gives for the sequences: for each its attention, then loss and correct.
std::vector<double> evaluated(SequenceEvaluator& evaluator, const ModelConfig& config,
                              const Sequences& inputs) {
  Sequences answers = targets(find_task("cycle"), inputs);
  for (std::size_t k = 0; k < answers.tokens.size(); k += 3) answers.tokens[k] = kIgnored;
  const auto size = static_cast<std::ptrdiff_t>(config.heads) * config.length * config.length;
  std::vector<double> numbers;
  for (int s = 0; s < inputs.count; ++s) {
    int next = 0;
    const SequenceScore score =
        evaluator.run(inputs.row(s), answers.row(s), [&](int layer, const float* attention) {
          EXPECT_EQ(layer, next++);
          numbers.insert(numbers.end(), attention, attention + size);
        });
    EXPECT_EQ(next, config.layers);
    numbers.push_back(score.loss / config.length);
    numbers.push_back(score.correct);
    const SequenceScore again = evaluator.run(inputs.row(s), answers.row(s), nullptr);
    EXPECT_EQ(again.loss, score.loss);
    EXPECT_EQ(again.correct, score.correct);
  }
  return numbers;
}

std::vector<double> evaluated_on(const Device& device, const Model& model,
                                 const Sequences& inputs) {
  return evaluated(*evaluator_factory(device, model)(), model.config(), inputs);
}

/// Queries and keys are sums of 64 products, scores of up to 64 more. Scores of models before
/// training are about 1 and grow with the gain's fourth power (that of the norm and of the
/// projection, twice), and so does what rounding makes of them, and of the weights; layers add
/// up.
void expect_agreement(const ModelConfig& config, float gain) {
  const Model model = model_of(config, gain);
  const Sequences inputs = random_sequences(3, 3, config.length, config.vocabulary);
  const std::vector<double> here = evaluated_on(kCard, model, inputs);
  const std::vector<double> there = evaluated_on({}, model, inputs);
  ASSERT_EQ(here.size(), there.size());
  const double tolerance = config.layers * 64 * 0x1p-24 * std::pow(gain, 4.0);
  double furthest = 0.0;
  for (std::size_t k = 0; k < here.size(); ++k) {
    const double distance = std::abs(here[k] - there[k]);
    if (!(distance <= furthest)) furthest = distance;  // also what is no number
    EXPECT_EQ(there[k] == 0.0, here[k] == 0.0) << k;   // later keys, and nothing else
  }
  EXPECT_LE(furthest, tolerance);
}

class CudaEvaluatorTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    FleetSettings shape;
    shape.model = config();
    const std::string why = refusal(kCard, shape);
    if (!why.empty()) GTEST_SKIP() << why;
  }
  static ModelConfig config() {
    ModelConfig config;
    config.heads = GetParam();
    return config;
  }
};

TEST_P(CudaEvaluatorTest, AttentionAndLossAgreeWithTheCpu) {
  expect_agreement(config(), 1.0F);
}

TEST_P(CudaEvaluatorTest, SoDoThoseOfSharperAttention) {
  expect_agreement(config(), 2.0F);
}

TEST_P(CudaEvaluatorTest, OtherSizesAgreeWithTheCpu) {
  ModelConfig other = config();
  other.length = 37;
  other.vocabulary = 10;
  other.layers = 2;
  expect_agreement(other, 1.0F);
  other.length = 104;
  other.layers = 1;
  expect_agreement(other, 1.0F);
  other.length = 1;
  expect_agreement(other, 1.0F);
}

TEST(CudaEvaluator, NarrowModelsAgreeWithTheCpu) {
  for (const ModelConfig& model : narrow_models()) {
    FleetSettings shape;
    shape.model = model;
    if (const std::string why = refusal(kCard, shape); !why.empty()) GTEST_SKIP() << why;
    expect_agreement(model, 1.0F);
  }
}

TEST_P(CudaEvaluatorTest, RowsAreDistributions) {
  const Model model = model_of(config(), 2.0F);
  const int n = config().length;
  const Sequences inputs = random_sequences(4, 1, n, config().vocabulary);
  evaluator_factory(kCard, model)()->run(
      inputs.row(0), inputs.row(0), [&](int /*layer*/, const float* attention) {
        for (int row = 0; row < config().heads * n; ++row, attention += n) {
          double sum = 0.0;
          for (int key = 0; key < n; ++key) {
            sum += attention[key];
            if (key > row % n) {
              EXPECT_EQ(attention[key], 0.0F) << row;
            }
          }
          EXPECT_NEAR(sum, 1.0, 9 * 0x1p-24) << row;  // a sum of eight levels, a division
        }
      });
}

// As Evaluate.AttentionOfHugeScoresIsADistribution.
TEST_P(CudaEvaluatorTest, AttentionOfHugeScoresIsADistribution) {
  ModelConfig other = config();
  other.length = 37;
  const Sequences inputs = random_sequences(1, 2, other.length, other.vocabulary);
  for (const double size : {1e4, 1e6, 1e8, 1e9, 4e9, 1e10, 1e11, 1e13}) {
    Model model(other);
    initialise(model, 1);
    for (const ParameterInfo& tensor : model.layout().tensors())
      if (tensor.name.ends_with("attn.W_q.weight"))
        for (std::size_t k = 0; k < tensor.size; ++k)
          model.values()[tensor.offset + k] *= static_cast<float>(size);
    evaluator_factory(kCard, model)()->run(
        inputs.row(0), inputs.row(1), [&](int layer, const float* attention) {
          for (int row = 0; row < other.heads * other.length; ++row) {
            double sum = 0.0;
            for (int key = 0; key < other.length; ++key) {
              ASSERT_GE(*attention, 0.0F) << size << ", layer " << layer;
              sum += *attention++;
            }
            ASSERT_NEAR(sum, 1.0, 40 * 0x1p-24) << size << ", layer " << layer;
          }
        });
  }
}

TEST_P(CudaEvaluatorTest, ThreadsThatRunAtOnceBesideATrainingGetTheSameNumbers) {
  const Model model = model_of(config());
  const Model other = model_of({.vocabulary = 10, .length = 37, .heads = 4});
  const Sequences inputs = random_sequences(5, 12, config().length, config().vocabulary);
  const std::vector<double> alone = evaluated_on(kCard, model, inputs);
  const EvaluatorFactory evaluators = evaluator_factory(kCard, model);
  parallel_for(9, 9, [&](std::size_t index, int /*worker*/) {
    if (index == 0) {
      FleetSettings settings;
      settings.model = config();
      const TrainingData data = task_data(find_task("copy"), 1, 1000, settings.model);
      TrainingState state(settings.model);
      initialise(state.model, 1);
      const auto fleet = make_fleet(kCard, settings, {});
      const auto rows = epoch_order(1, 0, 1000);
      const FleetWork work{fleet->add(state, 1, data), rows};
      for (int epoch = 0; epoch < 5; ++epoch) fleet->run({&work, 1});
    } else if (index % 4 == 3) {
      evaluated_on(kCard, other, random_sequences(6, 5, 37, 10));
    } else {
      EXPECT_EQ(evaluated(*evaluators(), model.config(), inputs), alone) << index;
    }
  });
  EXPECT_EQ(evaluated_on(kCard, model, inputs), alone);
}

TEST(CudaEvaluator, ModelsOfOtherShapesRunAtOnce) {
  if (const std::string why = refusal(kCard, {}); !why.empty()) GTEST_SKIP() << why;
  const std::vector<int> heads = {1, 16, 4, 8, 2};
  const Sequences inputs = random_sequences(7, 40, 100, 256);
  std::vector<Model> models;
  for (const int count : heads) models.push_back(model_of({.heads = count}));
  std::vector<std::vector<double>> alone;
  for (const Model& model : models) alone.push_back(evaluated_on(kCard, model, inputs));
  parallel_for(4 * heads.size(), static_cast<int>(4 * heads.size()), [&](std::size_t index, int) {
    const std::size_t k = index % heads.size();
    EXPECT_EQ(evaluated_on(kCard, models[k], inputs), alone[k]) << heads[k] << " heads";
  });
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaEvaluatorTest, testing::Values(1, 2, 4, 8, 16));

class CudaAnalyzeTest : public testing_support::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const std::string why = refusal(kCard, {});
    if (!why.empty()) GTEST_SKIP() << why;
  }
  json analyze(const std::string& arguments) const {
    const auto outcome =
        run("analyze run/model.safetensors --task copy --samples 8 --per-head "
            "--quiet --json - " +
            arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }
};

/// Numbers up to the share that rounding of attention makes of them, everything else as it is.
void expect_close(const json& a, const json& b, const std::string& where) {
  ASSERT_EQ(a.is_number(), b.is_number()) << where;
  if (a.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-3 * std::abs(b.get<double>()) + 1e-6) << where;
  } else if (a.is_structured()) {
    ASSERT_EQ(a.size(), b.size()) << where;
    const auto flat = b.items();
    auto other = flat.begin();
    for (const auto& [key, value] : a.items()) {
      expect_close(value, other.value(), where + '/' + key);
      ++other;
    }
  } else {
    EXPECT_EQ(a, b) << where;
  }
}

TEST_F(CudaAnalyzeTest, GivesTheCpusNumbersAndNamesTheDevice) {
  const auto trained =
      run("train --task copy --heads 4 --epochs 3 --sequences 500 --device cpu --quiet --out run");
  ASSERT_EQ(trained.status, 0) << trained.err;
  const json here = analyze("--device cpu");
  json there = analyze("--device cuda");
  EXPECT_THAT(there["model"]["device"].get<std::string>(),
              testing::MatchesRegex("cuda .*float32.*"));
  EXPECT_EQ(analyze("--device auto"), there);
  EXPECT_EQ(analyze("--device cuda --threads 7"), there);
  there["model"].erase("device");
  expect_close(there, here, "");
}

TEST_F(CudaAnalyzeTest, AStudyNamesWhatTrainedAndWhatRanItsModels) {
  const auto outcome =
      run("reproduce --heads 4 --tasks copy --epochs 1 --sequences 100 --samples 10 --no-figures "
          "--device cuda --quiet --out study");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json devices = json::parse(read("study/results.json")).at("devices");
  EXPECT_EQ(devices.at("training"), json::array({describe(kCard)}));
  EXPECT_EQ(devices.at("forward_pass"), json::array({describe(evaluating(kCard))}));
}

}  // namespace
}  // namespace synergraph
