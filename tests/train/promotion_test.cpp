#include "synergraph/train/promotion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/setting.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/cpu/attention_promotion.h"
#include "synergraph/train/cpu/batch_gradient.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/tracking.h"
#include "synergraph/train/trainer.h"
#include "tests/gradients/direct_definitions.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Promotion promoting(PromotedMetric metric, double strength) {
  Promotion promotion;
  promotion.strengths[static_cast<std::size_t>(metric)] = strength;
  return promotion;
}

std::string refusal_of(const std::vector<std::string>& texts) {
  try {
    parse_promotion(texts);
  } catch (const UsageError& error) {
    return spelled(error.what(), OptionSpelling::kProgram);
  }
  return "";
}

TEST(ParsePromotion, ReadsWhatItWrites) {
  EXPECT_FALSE(parse_promotion({}).active());
  const Promotion both = parse_promotion({"speed=-0.05", "fidelity=1e-1"});
  EXPECT_EQ(both[PromotedMetric::kFidelity], 0.1);
  EXPECT_EQ(both[PromotedMetric::kSpeed], -0.05);
  EXPECT_EQ(both[PromotedMetric::kEntropy], 0.0);
  EXPECT_THAT(texts_of(both), ElementsAre("fidelity=0.1", "speed=-0.05"));
  EXPECT_EQ(parse_promotion(texts_of(both)), both);
  EXPECT_FALSE(parse_promotion({"entropy=-0"}).active());
  EXPECT_EQ(texts_of(parse_promotion({"entropy=-0"})).size(), 0U);
  EXPECT_EQ(parse_promotion({"speed=1e6"})[PromotedMetric::kSpeed], kLargestStrength);
}

TEST(ParsePromotion, NamesWhatIsWrong) {
  EXPECT_EQ(refusal_of({"fidelity"}),
            "--promote: expected NAME=STRENGTH, such as fidelity=0.1, got 'fidelity'");
  EXPECT_EQ(refusal_of({""}), "--promote: expected NAME=STRENGTH, such as fidelity=0.1, got ''");
  EXPECT_EQ(refusal_of({"mixing=1"}),
            "--promote: unknown metric 'mixing', expected one of fidelity, speed, entropy");
  EXPECT_EQ(refusal_of({"speed=1", "fidelity=2", "speed=1"}),
            "--promote: speed is given twice; give one strength");
  for (const char* strength : {"nan", "inf", "-inf", "1e7", "", "1x", " 1", "1e400", "0.1,speed=1"})
    EXPECT_EQ(refusal_of({std::string("fidelity=") + strength}),
              std::string("--promote: the strength of fidelity is '") + strength +
                  "', expected a number from -1e+06 to 1e+06");
  EXPECT_THAT(refusal_of({"\x1b[31m=1"}), testing::Not(HasSubstr("\x1b")));
}

/// The attention of one sequence, made by the trainer's kernel from queries, keys and values.
struct Attention {
  Attention(int heads, int length, int width, std::uint32_t seed)
      : sequence(length, heads * width),
        shape(heads, sequence),
        qkv(3 * features() * stride(), 0.0F),
        weights(static_cast<std::size_t>(heads * shape.head_size)),
        inverse_sums(static_cast<std::size_t>(heads) * stride()),
        attended(features() * stride()),
        scratch(16 * static_cast<std::size_t>(length) + 16),
        mask(static_cast<std::size_t>(shape.mask_bytes)) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 1.5F);
    for (std::size_t row = 0; row < 3 * features(); ++row)
      for (int i = 0; i < length; ++i)
        qkv[row * stride() + static_cast<std::size_t>(i)] = normal(random);
    for (std::uint8_t& byte : mask) byte = static_cast<std::uint8_t>(random());
  }

  std::size_t features() const { return static_cast<std::size_t>(sequence.width); }
  std::size_t stride() const { return static_cast<std::size_t>(shape.stride); }

  AttentionBuffers forward(bool dropped) {
    const AttentionBuffers buffers{qkv.data(),           weights.data(),
                                   inverse_sums.data(),  attended.data(),
                                   scratch.data(),       dropped ? mask.data() : nullptr,
                                   dropped ? 2.0F : 1.0F};
    kernels().attention_forward(shape, buffers);
    return buffers;
  }

  /// The mean of the heads' attention, in 80-bit numbers.
  direct::Matrix mean(const std::vector<direct::Real>& numbers) const {
    const auto n = static_cast<std::size_t>(shape.length);
    const auto width = static_cast<std::size_t>(shape.head_width);
    const direct::Real scale = 1 / std::sqrt(static_cast<direct::Real>(width));
    direct::System system;
    for (std::size_t h = 0; h < static_cast<std::size_t>(shape.heads); ++h) {
      direct::Matrix a(n, std::vector<direct::Real>(n, 0));
      for (std::size_t i = 0; i < n; ++i) {
        direct::Real sum = 0;
        for (std::size_t k = 0; k <= i; ++k) {
          direct::Real score = 0;
          for (std::size_t c = h * width; c < (h + 1) * width; ++c)
            score += numbers[c * stride() + i] * numbers[(features() + c) * stride() + k];
          sum += a[i][k] = std::exp(score * scale);
        }
        for (std::size_t k = 0; k <= i; ++k) a[i][k] /= sum;
      }
      system.heads.push_back(a);
      system.weights.push_back(1);
    }
    return direct::combined(system);
  }

  SequenceShape sequence;
  AttentionShape shape;
  AlignedVector<float> qkv, weights, inverse_sums, attended, scratch;
  std::vector<std::uint8_t> mask;
};

direct::Real by_definition(PromotedMetric metric, const direct::Matrix& d) {
  const std::size_t n = d.size();
  if (metric == PromotedMetric::kFidelity)
    return direct::minimax(d, n - 1, static_cast<int>(n),
                           static_cast<direct::Real>(kPromotionSoftness));
  if (metric == PromotedMetric::kSpeed) return -std::log(direct::hitting_time(d, n - 1));
  direct::Real entropy = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k <= i; ++k) entropy -= d[i][k] * std::log(d[i][k]);
  return entropy / static_cast<direct::Real>(n);
}

// Values and gradients of the trainer's attention by the definitions in 80-bit numbers and their
// central differences. The attention is that of float32, with exponentials to some 1e-6: 5e-5 of
// the largest entry.
TEST(AttentionPromotion, HasTheValuesAndGradientsOfTheDefinitions) {
  struct Case {
    int heads, length, width;
  };
  for (const Case& one : {Case{1, 2, 4}, Case{3, 7, 5}, Case{2, 20, 8}, Case{4, 17, 1}}) {
    Attention attention(one.heads, one.length, one.width, 7);
    const std::vector<direct::Real> numbers(attention.qkv.begin(), attention.qkv.end());
    for (const auto& [metric, name] : kNamesOf<PromotedMetric>) {
      SCOPED_TRACE(std::string(name) + " of " + std::to_string(one.length) + " tokens");
      const double strength = -3.0;
      const double scale = 0.25;
      AttentionPromotion promotion(promoting(metric, strength), attention.shape);
      AlignedVector<float> gradient(attention.qkv.size(), 0.0F);
      PromotedSums sums;
      promotion.add(attention.forward(false), scale, gradient.data(), sums);
      const auto value = static_cast<double>(by_definition(metric, attention.mean(numbers)));
      EXPECT_NEAR(sums.mean(metric), value, 1e-5 * std::abs(value));
      EXPECT_EQ(sums.count(metric), 1);

      double largest = 0.0;
      for (const float g : gradient) largest = std::max(largest, std::fabs(static_cast<double>(g)));
      EXPECT_GT(largest, 0.0);
      for (std::size_t row = 0; row < 2 * attention.features(); ++row)
        for (std::size_t i = 0; i < static_cast<std::size_t>(one.length); ++i) {
          const std::size_t at = row * attention.stride() + i;
          const direct::Real step = 1e-5L;
          std::vector<direct::Real> moved = numbers;
          moved[at] += step;
          const direct::Real above = by_definition(metric, attention.mean(moved));
          moved[at] -= 2 * step;
          const direct::Real below = by_definition(metric, attention.mean(moved));
          const auto slope = static_cast<double>((above - below) / (2 * step));
          ASSERT_NEAR(gradient[at], -scale * strength * slope, 5e-5 * largest) << at;
        }
      // Values have no part in it, nor has the padding.
      for (std::size_t k = 2 * attention.features() * attention.stride(); k < gradient.size(); ++k)
        ASSERT_EQ(gradient[k], 0.0F);
      for (std::size_t row = 0; row < 2 * attention.features(); ++row)
        for (auto i = static_cast<std::size_t>(one.length); i < attention.stride(); ++i)
          ASSERT_EQ(gradient[row * attention.stride() + i], 0.0F);
    }
  }
}

TEST(AttentionPromotion, IsThatOfTheAttentionBeforeDropout) {
  Attention attention(4, 17, 8, 3);
  AttentionPromotion promotion(parse_promotion({"fidelity=1", "speed=2"}), attention.shape);
  AlignedVector<float> without(attention.qkv.size(), 0.0F);
  AlignedVector<float> with(attention.qkv.size(), 0.0F);
  PromotedSums sums_without;
  PromotedSums sums_with;
  promotion.add(attention.forward(false), 1.0, without.data(), sums_without);
  promotion.add(attention.forward(true), 1.0, with.data(), sums_with);
  EXPECT_EQ(sums_with, sums_without);
  EXPECT_EQ(with, without);
}

// The softmax of the forward pass leaves no weight at 0, so times are finite however far the scores
// are apart.
TEST(AttentionPromotion, HasFiniteTimesForScoresFarApart) {
  Attention attention(1, 4, 4, 3);
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t i = 0; i < 4; ++i)  // every token looks at itself
      attention.qkv[row * attention.stride() + i] = row % 4 == i ? 60.0F : 0.0F;
  AttentionPromotion speed(promoting(PromotedMetric::kSpeed, 1.0), attention.shape);
  AlignedVector<float> gradient(attention.qkv.size(), 0.0F);
  PromotedSums sums;
  speed.add(attention.forward(false), 1.0, gradient.data(), sums);
  EXPECT_EQ(sums.count(PromotedMetric::kSpeed), 1);
  EXPECT_LT(sums.mean(PromotedMetric::kSpeed), -36.0 * std::log(10.0));
  for (const float g : gradient) ASSERT_TRUE(std::isfinite(g));
}

TEST(AttentionPromotion, LeavesOutWhatIsNotFinite) {
  Attention attention(1, 5, 4, 3);
  const AlignedVector<float> untouched(attention.qkv.size(), 0.5F);
  AlignedVector<float> gradient = untouched;
  const auto add = [&](const std::vector<std::string>& texts) {
    AttentionPromotion promotion(parse_promotion(texts), attention.shape);
    const AttentionBuffers forward{attention.qkv.data(),
                                   attention.weights.data(),
                                   attention.inverse_sums.data(),
                                   attention.attended.data(),
                                   attention.scratch.data(),
                                   nullptr,
                                   1.0F};
    PromotedSums sums;
    promotion.add(forward, 1.0, gradient.data(), sums);
    return sums;
  };
  // Every query looks at token 0 alone: token 1 stays where it is, and its signal arrives nowhere.
  attention.forward(false);
  const QueryBlock block = attention.shape.block(0);
  for (int key = 0; key < block.keys; ++key)
    for (int query = 0; query < block.lanes; ++query)
      attention.weights[static_cast<std::size_t>(key * block.lanes + query)] =
          key == 0 ? 1.0F : 0.0F;
  std::fill(attention.inverse_sums.begin(), attention.inverse_sums.end(), 1.0F);
  EXPECT_EQ(add({"speed=1"}), PromotedSums());
  EXPECT_TRUE(std::isnan(PromotedSums().mean(PromotedMetric::kSpeed)));
  EXPECT_EQ(gradient, untouched);
  // Fidelity and entropy are 0 there. The softmax passes no gradient to weights of 0.
  const PromotedSums zeros = add({"fidelity=1", "speed=1", "entropy=1"});
  EXPECT_THAT(zeros.sums, ElementsAre(0.0, 0.0, 0.0));
  EXPECT_THAT(zeros.counts, ElementsAre(1, 0, 1));
  EXPECT_EQ(gradient, untouched);
  // A model that has diverged.
  attention.inverse_sums[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(add({"fidelity=1", "speed=1", "entropy=1"}), PromotedSums());
  EXPECT_EQ(gradient, untouched);
}

double objective(const StepResult& result, const Promotion& promotion) {
  double value = result.loss;
  for (const auto& [metric, name] : kNamesOf<PromotedMetric>)
    if (promotion[metric] != 0.0) value -= promotion[metric] * result.promoted.mean(metric);
  return value;
}

// d/dt objective(p + t g) = |g|^2 at t = 0, for the gradient g of each tensor. Float32 rounds the
// objective to some 1e-7, the step makes a difference of about 1e-2.
TEST(PromotedGradient, IsTheSlopeOfThePromotedLoss) {
  const std::vector<ModelConfig> configs = {
      {.vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24},
      {.vocabulary = 8, .length = 9, .width = 6, .heads = 2, .layers = 1, .hidden = 5},
  };
  for (const ModelConfig& config : configs)
    for (const std::vector<std::string>& texts :
         {std::vector<std::string>{"fidelity=20", "speed=2"},
          {"fidelity=-30"},
          {"speed=-2"},
          {"entropy=3"}})
      for (const double rate : {0.0, 0.3}) {
        SCOPED_TRACE(texts.front() + " with dropout " + std::to_string(rate));
        const Promotion promotion = parse_promotion(texts);
        const Dropout dropout(rate, 17, 4);
        Model model(config);
        initialise(model, 5);
        const Sequences inputs = random_sequences(1, 13, config.length, config.vocabulary);
        const Sequences answers = targets(find_task("cycle"), inputs);
        BatchGradient batch(config, 1, promotion);
        const StepResult first = batch.compute(model.values().data(), inputs, answers, dropout);
        const std::vector<float> gradient(batch.gradient(),
                                          batch.gradient() + batch.layout().size());
        BatchGradient plain(config, 1);
        const StepResult task = plain.compute(model.values().data(), inputs, answers, dropout);
        EXPECT_EQ(task.loss, first.loss);  // the loss is the task's alone
        EXPECT_EQ(task.promoted, PromotedSums());
        for (const ParameterInfo& tensor : batch.layout().tensors()) {
          double square = 0.0;
          double other = 0.0;
          for (std::size_t k = tensor.offset; k < tensor.offset + tensor.size; ++k) {
            square += std::pow(gradient[k], 2);
            other += std::abs(static_cast<double>(gradient[k]) -
                              static_cast<double>(plain.gradient()[k]));
          }
          if (tensor.name.find("W_k.bias") != std::string::npos) {
            EXPECT_EQ(square, 0.0);
            continue;
          }
          if (tensor.name.find("W_q.weight") != std::string::npos) {
            EXPECT_GT(other, 0.0);
          }
          const double step = 2e-3 / std::sqrt(square);
          const auto at = [&](double t) {
            AlignedVector<float> moved = model.values();
            for (std::size_t k = tensor.offset; k < tensor.offset + tensor.size; ++k)
              moved[k] += static_cast<float>(t * gradient[k]);
            return objective(batch.compute(moved.data(), inputs, answers, dropout), promotion);
          };
          const double slope = (at(step) - at(-step)) / (2.0 * step);
          EXPECT_NEAR(slope / square, 1.0, 0.02) << tensor.name;
        }
      }
}

TEST(PromotedGradient, DoesNotDependOnTheNumberOfThreads) {
  const ModelConfig config{
      .vocabulary = 13, .length = 21, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
  Model model(config);
  initialise(model, 5);
  const Sequences inputs = random_sequences(1, 23, config.length, config.vocabulary);
  const Promotion promotion = parse_promotion({"fidelity=1", "speed=-1"});
  std::vector<float> first;
  StepResult one;
  for (const int threads : {1, 2, 5}) {
    BatchGradient batch(config, threads, promotion);
    const StepResult result =
        batch.compute(model.values().data(), inputs, inputs, Dropout(0.2, 3, 1));
    const std::vector<float> gradient(batch.gradient(), batch.gradient() + batch.layout().size());
    if (first.empty()) {
      first = gradient;
      one = result;
    }
    EXPECT_EQ(gradient, first);
    EXPECT_EQ(result.promoted, one.promoted);
    EXPECT_EQ(result.promoted.count(PromotedMetric::kSpeed), 46);
  }
}

class PromotedTrainingTest : public testing::Test {
 protected:
  PromotedTrainingTest() {
    settings_.model = {
        .vocabulary = 12, .length = 10, .width = 16, .heads = 4, .layers = 2, .hidden = 24};
    settings_.sequences = 67;
    settings_.batch = 10;
    settings_.epochs = 4;
    settings_.seed = 5;
    data_ = task_data(find_task("copy"), settings_.seed, settings_.sequences, settings_.model);
    root_ =
        std::filesystem::path(testing::TempDir()) /
        (std::string("promotion_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
  }
  ~PromotedTrainingTest() override { std::filesystem::remove_all(root_); }

  std::string directory(const std::string& name) const { return (root_ / name).string(); }
  TrainOutcome run(const std::string& name, const std::vector<std::string>& promote,
                   TrainOptions options = {}) {
    options.directory = directory(name);
    settings_.promote = promote;
    return train(settings_, data_, options);
  }
  std::vector<nlohmann::json> log(const std::string& name) const {
    std::istringstream lines(read_file(log_path(directory(name))));
    std::vector<nlohmann::json> result;
    for (std::string line; std::getline(lines, line);) {
      result.push_back(nlohmann::json::parse(line));
      result.back().erase("seconds");
    }
    return result;
  }
  void expect_same_files(const std::string& one, const std::string& other) const {
    for (const auto& path : {model_path, state_path})
      EXPECT_EQ(read_file(path(directory(one))), read_file(path(directory(other))));
    EXPECT_EQ(log(one), log(other));
  }

  TrainSettings settings_;
  TrainingData data_;
  std::filesystem::path root_;
};

// Measured by the exact convention with learned head weights: not what was promoted, but what it is
// promoted for.
TEST_F(PromotedTrainingTest, MovesWhatItPromotes) {
  settings_.epochs = 25;
  settings_.adam.learning_rate = 4e-3;
  const auto measured = [&](const char* name, const std::vector<std::string>& promote,
                            Quantity quantity) {
    const TrainOutcome outcome = run(name, promote);
    EXPECT_GT(outcome.judged_accuracy, 0.95) << name;
    double sum = 0.0;
    for (const LayerTrack& layer : track_layers(outcome.model, data_.judged_inputs, 10))
      sum += layer.at(quantity);
    return sum / settings_.model.layers;
  };
  const double fidelity = measured("plain", {}, Quantity::kMinimaxFidelity);
  EXPECT_GT(measured("faithful", {"fidelity=1"}, Quantity::kMinimaxFidelity), 1.5 * fidelity);
  EXPECT_LT(measured("faithless", {"fidelity=-1"}, Quantity::kMinimaxFidelity), 0.5 * fidelity);
  const double time = measured("again", {}, Quantity::kHittingMean);
  EXPECT_LT(measured("fast", {"speed=0.5"}, Quantity::kHittingMean), 0.5 * time);
  EXPECT_GT(measured("slow", {"speed=-0.05"}, Quantity::kHittingMean), 2.0 * time);
  // The log has means of what was promoted, of the model in training.
  EXPECT_GT(log("faithful").back()["promoted"]["fidelity"],
            log("faithful")[0]["promoted"]["fidelity"]);
  EXPECT_GT(log("fast").back()["promoted"]["speed"], log("slow").back()["promoted"]["speed"]);
  EXPECT_EQ(log("fast").back()["promoted"]["left_out"], 0);
  EXPECT_FALSE(log("plain").back().contains("promoted"));
}

TEST_F(PromotedTrainingTest, StoppedAndResumedItEndsInTheSameBytesOnAnyNumberOfThreads) {
  const std::vector<std::string> promote = {"fidelity=0.5", "speed=-0.25"};
  const TrainOutcome whole = run("whole", promote);
  for (const int threads : {1, 2, 5}) {
    TrainOptions options;
    options.execution.threads = threads;
    run("threads" + std::to_string(threads), promote, options);
    expect_same_files("threads" + std::to_string(threads), "whole");
  }
  for (int part = 0;; ++part) {
    ASSERT_LT(part, 30);
    TrainOptions options;
    options.resume = true;
    int asked = 0;
    options.execution.stop = [&] { return ++asked > 5; };  // in the middle of epochs
    // The order of the metrics is no other run.
    const bool turned = part % 2 == 1;
    const TrainOutcome outcome =
        run("parts", turned ? std::vector{promote[1], promote[0]} : promote, options);
    if (!outcome.finished) continue;
    EXPECT_GT(part, 3);
    EXPECT_EQ(outcome.promoted, whole.promoted);
    break;
  }
  expect_same_files("parts", "whole");
  const auto last = log("whole").back()["promoted"];
  EXPECT_EQ(last["fidelity"], whole.promoted.mean(PromotedMetric::kFidelity));
  EXPECT_EQ(last["speed"], whole.promoted.mean(PromotedMetric::kSpeed));
  EXPECT_EQ(whole.promoted.count(PromotedMetric::kSpeed), 67 * 2);
  EXPECT_FALSE(last.contains("entropy"));
}

TEST_F(PromotedTrainingTest, WithoutStrengthsItIsThePlainRun) {
  run("plain", {});
  run("zero", {"fidelity=0", "speed=-0"});
  expect_same_files("zero", "plain");
  for (const auto& path : {model_path, state_path}) {
    const TensorFile file = TensorFile::open(path(directory("plain")), NamedBy::kProgram);
    EXPECT_EQ(file.metadata().count("promote"), 0U);
    for (const Tensor& tensor : file.tensors())
      EXPECT_EQ(tensor.info().name.find("promote"), std::string::npos);
  }
}

TEST_F(PromotedTrainingTest, ARunIsNotContinuedWithAnotherStrength) {
  run("run", {"speed=0.25"});
  EXPECT_EQ(read_settings(directory("run")).promote, std::vector<std::string>{"speed=0.25"});
  TrainOptions options;
  options.resume = true;
  const auto message = [&](const std::vector<std::string>& promote) -> std::string {
    try {
      run("run", promote, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({}), HasSubstr("the run has promote speed=0.25, not nothing"));
  EXPECT_THAT(message({"speed=0.5"}), HasSubstr("promote speed=0.25, not speed=0.5"));
  EXPECT_EQ(message({"speed=0.250"}), "");
}

TEST_F(PromotedTrainingTest, OneTokenHasNothingToPromote) {
  settings_.model.length = 1;
  settings_.promote = {"fidelity=0.1"};
  try {
    validate(settings_);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(spelled(error.what(), OptionSpelling::kProgram),
              "--promote: sequences of one token have no way to promote; give --length 2 or more");
  }
  settings_.promote = {"fidelity=0"};
  EXPECT_NO_THROW(validate(settings_));
}

TEST(PromotedDevice, IsTheCpu) {
  FleetSettings shape;
  shape.promotion = promoting(PromotedMetric::kSpeed, 1.0);
  const auto message = [&](const auto& action) -> std::string {
    try {
      action();
    } catch (const UsageError& error) {
      return spelled(error.what(), OptionSpelling::kProgram);
    }
    return "";
  };
  EXPECT_EQ(message([&] {
              choose_device("cuda:1", Precision::kTf32, {&shape, 1});
            }),
            "cuda:1: --promote trains on the CPU only; give --device cpu");
  EXPECT_EQ(message([&] { make_fleet({DeviceKind::kCuda}, shape, {}); }),
            "cuda: --promote trains on the CPU only; give --device cpu");
  EXPECT_EQ(choose_device("auto", Precision::kTf32, {&shape, 1}).kind, DeviceKind::kCpu);
  EXPECT_EQ(choose_device("cpu", Precision::kTf32, {&shape, 1}).kind, DeviceKind::kCpu);
}

}  // namespace
}  // namespace synergraph
