// Games on the loss on a GPU, against the CPU.
#include "synergraph/model/loss_game.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "synergraph/train/cuda/cuda_loss_games.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/make_loss_games.h"
#include "tests/gpu/agreement.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

constexpr Device kCard{DeviceKind::kCuda, 0, Precision::kFloat32};

/// A model before training, and pairs of which some do not count: of one sequence none.
struct Drawn {
  explicit Drawn(const ModelConfig& config, int count = 3)
      : model(config), inputs(random_sequences(3, count, config.length, config.vocabulary)) {
    initialise(model, 7);
    answers = targets(find_task("cycle"), inputs);
    for (std::size_t k = 0; k < answers.tokens.size(); ++k)
      if (k % 3 == 1 || k / static_cast<std::size_t>(config.length) == 1)
        answers.tokens[k] = kIgnored;
  }
  LossGame play(const Device& device, int layer, const LossGameOptions& options = {}) const {
    return loss_games_factory(device, model)()->play(inputs, answers, layer, options);
  }
  LossGame play_by(int passes, int layer) const {
    return cuda_loss_games(kCard, model, passes)()->play(inputs, answers, layer, {});
  }

  Model model;
  Sequences inputs;
  Sequences answers;
};

std::string refusal_of(const ModelConfig& config) {
  FleetSettings shape;
  shape.model = config;
  return refusal(kCard, shape);
}

/// An answer that is right by less than the rounding of its logits may be wrong elsewhere.
void expect_near(double accuracy, double expected, const Sequences& answers) {
  EXPECT_NEAR(accuracy, expected, 1.0 / static_cast<double>(counted(answers.tokens)) + 1e-12);
}

/// Losses are means over hundreds of positions, whose logits are a hundred roundings of 2^-22 off
/// at most: a third of the bound, before any average.
void expect_agreement(const Drawn& drawn) {
  const ModelConfig& config = drawn.model.config();
  SCOPED_TRACE(testing::Message() << config.heads << " heads, width " << config.width);
  for (int layer = 0; layer < config.layers; ++layer)
    for (const Ablation ablation : {Ablation::kZero, Ablation::kMean}) {
      const LossGame here = drawn.play(kCard, layer, {.ablation = ablation});
      const LossGame there = drawn.play({}, layer, {.ablation = ablation});
      ASSERT_EQ(here.heads, there.heads);
      ASSERT_EQ(here.loss.size(), there.loss.size());
      ASSERT_EQ(here.accuracy.size(), there.accuracy.size());
      for (std::size_t subset = 0; subset < here.loss.size(); ++subset) {
        ASSERT_NEAR(here.loss[subset], there.loss[subset], 1e-5 * there.loss[subset])
            << "layer " << layer << ", subset " << subset;
        expect_near(here.accuracy[subset], there.accuracy[subset], drawn.answers);
      }
    }
}

class CudaLossGameTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const std::string why = refusal_of(config()); !why.empty()) GTEST_SKIP() << why;
  }
  static ModelConfig config() {
    ModelConfig config;
    config.heads = GetParam();
    config.layers = 2;
    return config;
  }
  /// Few subsets on the CPU's side.
  static ModelConfig small() {
    ModelConfig config = CudaLossGameTest::config();
    config.heads = std::min(config.heads, 4);
    config.layers = 3;
    return config;
  }
};

TEST_P(CudaLossGameTest, AgreesWithTheCpu) {
  expect_agreement(Drawn(config(), GetParam() > 8 ? 1 : 3));  // the CPU takes a minute otherwise
}

// All subsets on the GPU, some of them as models whose columns of the projection are zero.
TEST_P(CudaLossGameTest, IsTheLossWithColumnsOfTheProjectionZeroed) {
  ModelConfig deep = config();
  deep.layers = 3;
  const Drawn drawn(deep);
  const int width = deep.width / deep.heads;
  for (int layer = 0; layer < deep.layers; ++layer) {
    const LossGame game = drawn.play(kCard, layer, {.ablation = Ablation::kZero});
    const std::size_t all = game.loss.size() - 1;
    for (const std::size_t subset : {std::size_t{0}, all, all / 3, all / 2 + 1}) {
      Model without = drawn.model;
      float* projection =
          without.tensor("layers." + std::to_string(layer) + ".attn.out_proj.weight");
      for (int row = 0; row < deep.width; ++row)
        for (int column = 0; column < deep.width; ++column)
          if ((subset >> (column / width) & 1U) == 0) projection[row * deep.width + column] = 0.0F;
      const Evaluation expected = evaluate(without, drawn.inputs, drawn.answers);
      EXPECT_NEAR(game.loss[subset], expected.loss, 1e-5 * expected.loss) << subset;
      expect_near(game.accuracy[subset], expected.accuracy, drawn.answers);
    }
  }
}

TEST_P(CudaLossGameTest, OtherSizesAgreeWithTheCpu) {
  for (const auto& [length, vocabulary] :
       {std::pair{37, 10}, std::pair{104, 65}, std::pair{1, 3}}) {
    ModelConfig other = small();
    other.length = length;
    other.vocabulary = vocabulary;
    expect_agreement(Drawn(other));
  }
}

TEST_P(CudaLossGameTest, ValuesAreAGame) {
  Drawn drawn(config());
  const int heads = config().heads;
  const int dead = heads / 2;
  const int width = config().width / heads;
  float* projection = drawn.model.tensor("layers.1.attn.out_proj.weight");
  for (int row = 0; row < config().width; ++row)
    std::fill_n(projection + row * config().width + dead * width, width, 0.0F);
  for (const Ablation ablation : {Ablation::kZero, Ablation::kMean}) {
    const LossGame game = drawn.play(kCard, 1, {.ablation = ablation});
    const std::vector<double> values = game.loss_values();
    EXPECT_EQ(values.front(), 0.0);
    EXPECT_EQ(game.accuracy_values().front(), 0.0);
    const double whole = evaluate(drawn.model, drawn.inputs, drawn.answers).loss;
    EXPECT_NEAR(game.loss.back(), whole, 1e-5 * whole);
    const GameIndices indices = game_indices(values, 1);
    EXPECT_NEAR(std::accumulate(indices.shapley.begin(), indices.shapley.end(), 0.0), values.back(),
                1e-12);
    EXPECT_EQ(indices.shapley[static_cast<std::size_t>(dead)], 0.0);
  }
}

// Fewer passes than subsets, launches of several sequences, and one launch.
TEST_P(CudaLossGameTest, HasTheSameBytesForAnyNumberOfPassesALaunch) {
  const Drawn drawn(small(), 5);
  const LossGame expected = drawn.play_by(1 << 16, 1);
  for (const int passes : {1, 3, 7, 16, 33, 64}) {
    const LossGame game = drawn.play_by(passes, 1);
    EXPECT_EQ(game.loss, expected.loss) << passes;
    EXPECT_EQ(game.accuracy, expected.accuracy) << passes;
  }
}

TEST_P(CudaLossGameTest, TellsHowFarItIsAndStops) {
  const Drawn drawn(small(), 5);
  const auto games = cuda_loss_games(kCard, drawn.model, 7)();
  const auto subsets = std::uint64_t{1} << small().heads;
  std::uint64_t done = 0;
  LossGameOptions options;
  options.subsets_done = [&](std::uint64_t count) { done += count; };
  games->play(drawn.inputs, drawn.answers, 1, options);
  EXPECT_EQ(done, 5 * subsets);
  done = 0;
  options.execution.stop = [&] { return done >= 2 * subsets; };
  EXPECT_THROW(games->play(drawn.inputs, drawn.answers, 1, options), Stopped);
  EXPECT_LT(done, 5 * subsets);
  options.execution.stop = {};
  done = 0;
  games->play(drawn.inputs, drawn.answers, 0, options);  // the same games go on
  EXPECT_EQ(done, 5 * subsets);
}

TEST_P(CudaLossGameTest, TheControlAgreesWithTheCpu) {
  const Drawn drawn(config(), 300);  // more sequences than run at once
  for (const Ablation ablation : {Ablation::kZero, Ablation::kMean}) {
    const auto control_on = [&](const Device& device) {
      return loss_games_factory(device, drawn.model)()->control(drawn.inputs, drawn.answers,
                                                                ablation, {});
    };
    const AttentionControl here = control_on(kCard);
    const AttentionControl there = control_on({});
    const auto expect_same = [&](const Evaluation& a, const Evaluation& b) {
      EXPECT_NEAR(a.loss, b.loss, 1e-5 * b.loss);
      EXPECT_NEAR(a.accuracy, b.accuracy, 1e-3);
    };
    expect_same(here.intact, there.intact);
    expect_same(here.without_attention, there.without_attention);
    ASSERT_EQ(here.without_layer.size(), there.without_layer.size());
    for (std::size_t l = 0; l < here.without_layer.size(); ++l)
      expect_same(here.without_layer[l], there.without_layer[l]);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaLossGameTest, testing::Values(1, 2, 4, 8, 16));

TEST(CudaLossGame, NarrowModelsAgreeWithTheCpu) {
  for (const ModelConfig& model : narrow_models()) {
    if (const std::string why = refusal_of(model); !why.empty()) GTEST_SKIP() << why;
    if (model.heads <= 5) expect_agreement(Drawn(model));
  }
}

TEST(CudaLossGame, RefusesWhatItCannotMeasure) {
  const ModelConfig config{.heads = 4, .layers = 2};
  if (const std::string why = refusal_of(config); !why.empty()) GTEST_SKIP() << why;
  const Drawn drawn(config);
  EXPECT_THROW(drawn.play(kCard, 2), InputError);
  EXPECT_THROW(drawn.play(kCard, -1), InputError);
  const Model large(ModelConfig{.length = 200});
  EXPECT_THROW(loss_games_factory(kCard, large), InputError);
}

class CudaHeadsTest : public testing_support::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (const std::string why = refusal(kCard, {}); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(CudaHeadsTest, GivesTheCpusLossAndNamesTheDevice) {
  const auto trained =
      run("train --task cycle --heads 4 --epochs 3 --sequences 500 --device cpu --quiet --out run");
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto heads = [&](const std::string& device) {
    const auto outcome =
        run("heads run/model.safetensors --task cycle --samples 8 --loss yes "
            "--quiet --json - --device " +
            device);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json here = heads("cpu");
  const nlohmann::json there = heads("cuda");
  EXPECT_THAT(there["model"]["device"].get<std::string>(),
              testing::MatchesRegex("cuda .*float32.*"));
  EXPECT_EQ(heads("auto"), there);
  ASSERT_EQ(here["layers"].size(), there["layers"].size());
  for (std::size_t l = 0; l < here["layers"].size(); ++l) {
    const auto& a = there["layers"][l]["loss"];
    const auto& b = here["layers"][l]["loss"];
    // Differences of losses near 5: what a loss may be off by.
    EXPECT_NEAR(a["won"].get<double>(), b["won"].get<double>(), 1e-4);
    for (std::size_t h = 0; h < 4; ++h)
      EXPECT_NEAR(a["shapley"][h].get<double>(), b["shapley"][h].get<double>(), 1e-4);
  }
  EXPECT_NEAR(there["task"]["without_attention"]["loss"].get<double>(),
              here["task"]["without_attention"]["loss"].get<double>(), 1e-4);
}

}  // namespace
}  // namespace synergraph
