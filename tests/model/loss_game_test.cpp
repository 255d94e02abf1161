#include "synergraph/model/loss_game.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/subsets/game.h"
#include "tests/model/tiny_model.h"

namespace synergraph {
namespace {

constexpr ModelConfig kConfig{
    .vocabulary = 11, .length = 13, .width = 12, .heads = 4, .layers = 3, .hidden = 10};

struct Drawn {
  explicit Drawn(const ModelConfig& config = kConfig, int count = 5)
      : model(config), inputs(random_sequences(3, count, config.length, config.vocabulary)) {
    initialise(model, 7);
    answers = targets(find_task("cycle"), inputs);
  }
  Model model;
  Sequences inputs;
  Sequences answers;
};

std::string tensor_name(int layer, const char* tensor) {
  return fmt::format("layers.{}.attn.{}", layer, tensor);
}

/// The model without some heads of a layer: their columns of the output projection are zero.
Model without(Model model, int layer, Subset off) {
  const ModelConfig& config = model.config();
  float* projection = model.tensor(tensor_name(layer, "out_proj.weight"));
  for (int row = 0; row < config.width; ++row)
    for (int column = 0; column < config.width; ++column)
      if ((off >> (column / (config.width / config.heads)) & 1U) != 0)
        projection[row * config.width + column] = 0.0F;
  return model;
}

/// Sums of at most 64 float32 products in other orders, through three layers and a softmax: some
/// hundred roundings of 6e-8 each, relative to losses near 1.
constexpr double kRounding = 1e-5;

TEST(LossGame, IsTheLossWithColumnsOfTheProjectionZeroed) {
  const Drawn drawn;
  for (int layer = 0; layer < kConfig.layers; ++layer) {
    const LossGame game =
        loss_game(drawn.model, drawn.inputs, drawn.answers, layer, {.ablation = Ablation::kZero});
    ASSERT_EQ(game.loss.size(), 16U);
    for (Subset subset = 0; subset < 16; ++subset) {
      const Evaluation expected =
          evaluate(without(drawn.model, layer, ~subset), drawn.inputs, drawn.answers);
      EXPECT_NEAR(game.loss[subset], expected.loss, kRounding * expected.loss);
      EXPECT_NEAR(game.accuracy[subset], expected.accuracy, 1.0 / (5 * 13) + 1e-12);
    }
  }
}

// scripts/loss_game_vectors.py made these games: a forward pass of PyTorch in float64 for every
// subset.
TEST(LossGame, AgreesWithPyTorch) {
  const TinyReference reference;
  ModelConfig config = reference.config;
  config.heads = 4;
  Model model(config);
  model.values() = reference.model("init").values();
  const TensorFile file = TensorFile::open(SYNERGRAPH_TEST_DATA "/loss_games.npy");
  const std::vector<double> expected = file.tensors().front().values<double>();
  ASSERT_EQ(file.tensors().front().shape(),
            (std::vector<std::int64_t>{2, config.layers, 2, 2, 16}));
  Sequences some = reference.targets;
  for (std::size_t k = 0; k < some.tokens.size(); ++k)
    if (k % 3 != 0) some.tokens[k] = kIgnored;
  auto loss = expected.begin();
  auto accuracy = expected.begin() + static_cast<std::ptrdiff_t>(expected.size() / 2);
  for (int layer = 0; layer < config.layers; ++layer)
    for (const Ablation ablation : {Ablation::kZero, Ablation::kMean})
      for (const Sequences& answers : {reference.targets, some}) {
        const LossGame game =
            loss_game(model, reference.inputs, answers, layer, {.ablation = ablation});
        for (Subset subset = 0; subset < 16; ++subset) {
          EXPECT_NEAR(game.loss[subset], *loss, kRounding * *loss);
          EXPECT_NEAR(game.accuracy[subset], *accuracy, 1e-12);
          ++loss;
          ++accuracy;
        }
      }
}

// Some positions do not count, and of one sequence none: the last layer leaves these out.
TEST(LossGame, CountsTheTargetsThatAreNotIgnored) {
  Drawn drawn;
  for (std::size_t k = 0; k < drawn.answers.tokens.size(); ++k)
    if (k % 3 != 0 || k < 13) drawn.answers.tokens[k] = kIgnored;
  for (int layer = 0; layer < kConfig.layers; ++layer) {
    const LossGame game =
        loss_game(drawn.model, drawn.inputs, drawn.answers, layer, {.ablation = Ablation::kZero});
    for (const Subset subset : {Subset{0}, Subset{0b0110}, Subset{0b1111}}) {
      const Evaluation expected =
          evaluate(without(drawn.model, layer, ~subset), drawn.inputs, drawn.answers);
      EXPECT_NEAR(game.loss[subset], expected.loss, kRounding * expected.loss);
      EXPECT_NEAR(game.accuracy[subset], expected.accuracy, 1.0 / 17 + 1e-12);  // one near tie
    }
  }
  std::fill(drawn.answers.tokens.begin(), drawn.answers.tokens.end(), kIgnored);
  EXPECT_THROW(loss_game(drawn.model, drawn.inputs, drawn.answers, 0), InputError);
}

/// The mean output of every feature of layer 0's heads, in double precision from the definition.
std::vector<double> mean_outputs(const Drawn& drawn) {
  const int e = kConfig.width;
  const int n = kConfig.length;
  const int d = e / kConfig.heads;
  const auto linear = [&](const char* name, const std::vector<double>& x, int row) {
    const float* weight = drawn.model.tensor(tensor_name(0, name) + ".weight");
    double sum = drawn.model.tensor(tensor_name(0, name) + ".bias")[row];
    for (int c = 0; c < e; ++c)
      sum += static_cast<double>(weight[row * e + c]) * x[static_cast<std::size_t>(c)];
    return sum;
  };
  std::vector<double> means(static_cast<std::size_t>(e));
  for (int s = 0; s < drawn.inputs.count; ++s) {
    std::vector<std::vector<double>> normed;
    for (int p = 0; p < n; ++p) {
      std::vector<double> x;
      double squares = 0.0;
      for (int c = 0; c < e; ++c) {
        x.push_back(static_cast<double>(
                        drawn.model.tensor("token_emb.weight")[drawn.inputs.row(s)[p] * e + c]) +
                    drawn.model.tensor("pos_emb.weight")[p * e + c]);
        squares += x.back() * x.back();
      }
      for (int c = 0; c < e; ++c)
        x[static_cast<std::size_t>(c)] *=
            drawn.model.tensor("layers.0.ln1.weight")[c] / std::sqrt(squares / e + 0x1.0p-23);
      normed.push_back(x);
    }
    for (int h = 0; h < kConfig.heads; ++h)
      for (int i = 0; i < n; ++i) {
        std::vector<double> weights;
        double total = 0.0;
        for (int j = 0; j <= i; ++j) {
          double score = 0.0;
          for (int f = h * d; f < (h + 1) * d; ++f)
            score += linear("W_q", normed[static_cast<std::size_t>(i)], f) *
                     linear("W_k", normed[static_cast<std::size_t>(j)], f);
          weights.push_back(std::exp(score / std::sqrt(d)));
          total += weights.back();
        }
        for (int j = 0; j <= i; ++j)
          for (int f = h * d; f < (h + 1) * d; ++f)
            means[static_cast<std::size_t>(f)] +=
                weights[static_cast<std::size_t>(j)] / total *
                linear("W_v", normed[static_cast<std::size_t>(j)], f) / (n * drawn.inputs.count);
      }
  }
  return means;
}

TEST(LossGame, ReplacesHeadsByTheirMeanOutput) {
  const Drawn drawn;
  const std::vector<double> means = mean_outputs(drawn);
  const LossGame game =
      loss_game(drawn.model, drawn.inputs, drawn.answers, 0, {.ablation = Ablation::kMean});
  for (Subset subset = 0; subset < 16; ++subset) {
    // A constant output is a part of the projection's bias.
    Model expected = without(drawn.model, 0, ~subset);
    const float* projection = drawn.model.tensor(tensor_name(0, "out_proj.weight"));
    for (int row = 0; row < kConfig.width; ++row)
      for (int c = 0; c < kConfig.width; ++c)
        if ((subset >> (c / (kConfig.width / kConfig.heads)) & 1U) == 0)
          expected.tensor(tensor_name(0, "out_proj.bias"))[row] += static_cast<float>(
              projection[row * kConfig.width + c] * means[static_cast<std::size_t>(c)]);
    const double loss = evaluate(expected, drawn.inputs, drawn.answers).loss;
    EXPECT_NEAR(game.loss[subset], loss, kRounding * loss);
  }
}

TEST(LossGame, ValuesAreAGameWhoseShapleyValuesSumToTheValueOfAllHeads) {
  Drawn drawn;
  // A head without an output has no value, by either replacement.
  drawn.model = without(drawn.model, 1, 0b0100);
  for (const Ablation ablation : {Ablation::kZero, Ablation::kMean}) {
    const LossGame game =
        loss_game(drawn.model, drawn.inputs, drawn.answers, 1, {.ablation = ablation});
    const std::vector<double> values = game.loss_values();
    EXPECT_EQ(values.front(), 0.0);
    EXPECT_NEAR(game.loss.back(), evaluate(drawn.model, drawn.inputs, drawn.answers).loss,
                kRounding);
    const GameIndices indices = game_indices(values, 2);
    EXPECT_NEAR(std::accumulate(indices.shapley.begin(), indices.shapley.end(), 0.0), values.back(),
                1e-13);
    EXPECT_EQ(indices.shapley[2], 0.0);
    EXPECT_EQ(game.accuracy_values().front(), 0.0);
  }
}

TEST(LossGame, HasTheSameBytesForAnyNumberOfThreads) {
  ModelConfig config = kConfig;
  config.width = 20;
  config.heads = 10;  // several tasks a sequence
  const Drawn drawn(config, 2);
  LossGameOptions options;
  options.execution.threads = 1;
  std::uint64_t done = 0;
  options.subsets_done = [&](std::uint64_t count) { done += count; };
  const LossGame one = loss_game(drawn.model, drawn.inputs, drawn.answers, 2, options);
  EXPECT_EQ(done, 2U * 1024U);
  options.execution.threads = 3;
  const LossGame three = loss_game(drawn.model, drawn.inputs, drawn.answers, 2, options);
  EXPECT_EQ(one.loss, three.loss);
  EXPECT_EQ(one.accuracy, three.accuracy);
}

TEST(AttentionControl, SwitchesOffOneLayerOrAll) {
  const Drawn drawn;
  const AttentionControl control =
      attention_control(drawn.model, drawn.inputs, drawn.answers, Ablation::kZero);
  const auto loss_of = [&](const Model& model) {
    return evaluate(model, drawn.inputs, drawn.answers).loss;
  };
  EXPECT_EQ(control.intact.loss, loss_of(drawn.model));
  Model bare = drawn.model;
  for (int layer = 0; layer < kConfig.layers; ++layer) {
    const double expected = loss_of(without(drawn.model, layer, ~Subset{0}));
    EXPECT_NEAR(control.without_layer[static_cast<std::size_t>(layer)].loss, expected,
                kRounding * expected);
    bare = without(bare, layer, ~Subset{0});
  }
  EXPECT_NEAR(control.without_attention.loss, loss_of(bare), kRounding * loss_of(bare));
}

// Position i of a copied sequence is its own answer: a model whose output reads the token's
// embedding needs no attention. The value of all heads is then at most what they disturb.
TEST(AttentionControl, ShowsThatCopyingNeedsNoAttention) {
  ModelConfig config{
      .vocabulary = 8, .length = 9, .width = 8, .heads = 2, .layers = 2, .hidden = 4};
  Model model(config);
  for (int k = 0; k < 8; ++k)
    model.tensor("token_emb.weight")[k * 8 + k] = model.tensor("out_proj.weight")[k * 8 + k] = 6.0F;
  const Sequences inputs = random_sequences(1, 4, 9, 8);
  const AttentionControl control =
      attention_control(model, inputs, targets(find_task("copy"), inputs));
  EXPECT_EQ(control.without_attention.accuracy, 1.0);
}

TEST(LossGame, RefusesWhatItCannotMeasure) {
  const Drawn drawn;
  EXPECT_THROW(loss_game(drawn.model, drawn.inputs, drawn.answers, 3), InputError);
  EXPECT_THROW(loss_game(drawn.model, drawn.inputs, drawn.answers, -1), InputError);
  EXPECT_THROW(loss_game(drawn.model, drawn.inputs, {}, 0), InputError);
  const ModelConfig wide{
      .vocabulary = 4, .length = 2, .width = 21, .heads = 21, .layers = 1, .hidden = 2};
  const Drawn many(wide, 1);
  EXPECT_THROW(loss_game(many.model, many.inputs, many.answers, 0), InputError);
  LossGameOptions stopped;
  stopped.execution.stop = [] { return true; };
  EXPECT_THROW(loss_game(drawn.model, drawn.inputs, drawn.answers, 0, stopped), Stopped);
}

}  // namespace
}  // namespace synergraph
