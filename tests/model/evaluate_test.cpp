#include "synergraph/model/evaluate.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <span>

#include "synergraph/core/error.h"
#include "tests/model/tiny_model.h"

namespace synergraph {
namespace {

TEST(Evaluate, AgreesWithTheReference) {
  const TinyReference reference;
  EvaluateOptions options;
  options.want_logits = true;
  const Evaluation result =
      evaluate(reference.model("init"), reference.inputs, reference.targets, options);
  EXPECT_NEAR(result.loss, reference.file.at("losses").values<double>()[0], 1e-6);

  const auto expected = reference.file.at("logits").values<double>();
  ASSERT_EQ(result.logits.size(), expected.size());
  const auto vocabulary = static_cast<std::size_t>(reference.config.vocabulary);
  double correct = 0.0;
  for (std::size_t k = 0; k < expected.size(); k += vocabulary) {
    std::size_t best = 0;
    for (std::size_t v = 0; v < vocabulary; ++v) {
      EXPECT_NEAR(result.logits[k + v], expected[k + v], 1e-5);
      if (expected[k + v] > expected[k + best]) best = v;
    }
    if (static_cast<int>(best) == reference.targets.tokens[k / vocabulary]) correct += 1.0;
  }
  EXPECT_DOUBLE_EQ(result.accuracy, correct / static_cast<double>(expected.size() / vocabulary));
}

TEST(Evaluate, OfEqualLogitsTheFirstIsTheAnswer) {
  const ModelConfig config{
      .vocabulary = 9, .length = 11, .width = 8, .heads = 2, .layers = 1, .hidden = 4};
  const Model model(config);  // all zero
  const Sequences inputs = random_sequences(1, 3, config.length, config.vocabulary);
  Sequences answers = inputs;
  for (const int answer : {0, 1, 8}) {
    std::fill(answers.tokens.begin(), answers.tokens.end(), answer);
    const Evaluation result = evaluate(model, inputs, answers);
    EXPECT_EQ(result.accuracy, answer == 0 ? 1.0 : 0.0);
    EXPECT_NEAR(result.loss, std::log(9.0), 1e-6);
  }
  // The first of two that are the largest.
  Model tied(config);
  tied.tensor("out_proj.bias")[3] = tied.tensor("out_proj.bias")[6] = 1.0F;
  std::fill(answers.tokens.begin(), answers.tokens.end(), 3);
  EXPECT_EQ(evaluate(tied, inputs, answers).accuracy, 1.0);
}

// Scores so large that their rounded product with a factor is far from the exact one.
TEST(Evaluate, AttentionOfHugeScoresIsADistribution) {
  const ModelConfig config{.length = 37, .heads = 2};
  const Sequences inputs = random_sequences(1, 2, config.length, config.vocabulary);
  for (const double size : {1e4, 1e6, 1e8, 1e9, 4e9, 1e10, 1e11, 1e13}) {
    Model model(config);
    initialise(model, 1);
    for (int layer = 0; layer < config.layers; ++layer) {
      const std::string name = fmt::format("layers.{}.attn.W_q.weight", layer);
      const auto count = static_cast<std::size_t>(config.width) * config.width;
      for (float& weight : std::span(model.tensor(name), count)) weight *= static_cast<float>(size);
    }
    Evaluator(model).run(inputs.row(0), inputs.row(1), [&](int layer, const float* attention) {
      for (int row = 0; row < config.heads * config.length; ++row) {
        double sum = 0.0;
        for (int key = 0; key < config.length; ++key) {
          ASSERT_GE(*attention, 0.0F) << size << ", layer " << layer;
          sum += *attention++;
        }
        ASSERT_NEAR(sum, 1.0, 40 * 0x1p-24) << size << ", layer " << layer;
      }
    });
  }
}

// Entries so small that the epsilon under the root outweighs their mean square.
TEST(Evaluate, NormalisesSmallEntriesByTheFormula) {
  const ModelConfig config{
      .vocabulary = 8, .length = 3, .width = 8, .heads = 1, .layers = 1, .hidden = 8};
  Model model(config);
  const float entry = 1e-4F;
  std::fill_n(model.tensor("token_emb.weight"), 64, entry);
  std::fill_n(model.tensor("layers.0.ln2.weight"), 8, 1.0F);
  for (const char* name : {"layers.0.mlp.0.weight", "layers.0.mlp.2.weight", "out_proj.weight"})
    for (int c = 0; c < 8; ++c) model.tensor(name)[9 * c] = 1.0F;  // identities
  const Sequences inputs = random_sequences(1, 2, config.length, config.vocabulary);
  EvaluateOptions options;
  options.want_logits = true;
  const double x = entry;
  const double expected = x + x / std::sqrt(x * x + 0x1p-23);
  for (const float logit : evaluate(model, inputs, inputs, options).logits)
    EXPECT_NEAR(logit, expected, 1e-6 * expected);
}

/// Attention of layer 0 from the definition, in double.
double reference_attention(const Model& model, const std::int32_t* tokens, int head, int i, int j) {
  const ModelConfig& config = model.config();
  const auto normed = [&](int p) {
    std::vector<double> x;
    double square = 0.0;
    for (int c = 0; c < config.width; ++c) {
      x.push_back(model.tensor("token_emb.weight")[tokens[p] * config.width + c] +
                  model.tensor("pos_emb.weight")[p * config.width + c]);
      square += x.back() * x.back();
    }
    for (std::size_t c = 0; c < x.size(); ++c)
      x[c] *= model.tensor("layers.0.ln1.weight")[c] / std::sqrt(square / config.width + 0x1p-23);
    return x;
  };
  const auto project = [&](const std::string& name, const std::vector<double>& x, int row) {
    double value = model.tensor("layers.0.attn." + name + ".bias")[row];
    for (std::size_t c = 0; c < x.size(); ++c)
      value += x[c] * model.tensor("layers.0.attn." + name +
                                   ".weight")[static_cast<std::size_t>(row * config.width) + c];
    return value;
  };
  const int width = config.width / config.heads;
  std::vector<double> weights;
  double sum = 0.0;
  for (int key = 0; key <= i; ++key) {
    double score = 0.0;
    for (int c = head * width; c < (head + 1) * width; ++c)
      score += project("W_q", normed(i), c) * project("W_k", normed(key), c);
    weights.push_back(std::exp(score / std::sqrt(width)));
    sum += weights.back();
  }
  return weights.at(static_cast<std::size_t>(j)) / sum;
}

// Lengths on both sides of the blocks of eight and sixteen queries, and odd head widths.
TEST(Evaluate, AttentionIsTheCausalSoftmaxOfTheScores) {
  for (const int length : {1, 7, 8, 9, 16, 17, 26}) {
    Model model(
        {.vocabulary = 9, .length = length, .width = 6, .heads = 2, .layers = 1, .hidden = 5});
    initialise(model, 3);
    const Sequences inputs = random_sequences(1, 2, length, 9);
    EvaluateOptions options;
    options.attention = [&](const SampleAttention& attention) {
      for (int h = 0; h < attention.heads; ++h) {
        for (int i = 0; i < length; ++i) {
          for (int j = 0; j < length; ++j) {
            const float value = attention.head(h)(i, j);
            if (j > i)
              ASSERT_EQ(value, 0.0F);
            else
              ASSERT_NEAR(value, reference_attention(model, inputs.row(attention.sample), h, i, j),
                          2e-6);
          }
        }
      }
    };
    evaluate(model, inputs, inputs, options);
  }
}

TEST(Evaluate, VisitsEveryLayerOfEverySampleInOrderAndAnyThreadsGiveTheSameBits) {
  Model model({.vocabulary = 20, .length = 21, .width = 12, .heads = 3, .layers = 3, .hidden = 10});
  initialise(model, 1);
  const Sequences inputs = random_sequences(2, 9, 21, 20);
  std::vector<std::vector<float>> first;
  Evaluation single;
  for (const int threads : {1, 4}) {
    std::vector<int> layers(9, 0);
    std::vector<std::vector<float>> seen(27);
    EvaluateOptions options;
    options.execution.threads = threads;
    options.want_logits = true;
    options.attention = [&](const SampleAttention& attention) {
      ASSERT_LT(attention.worker, threads);
      ASSERT_EQ(layers[static_cast<std::size_t>(attention.sample)]++, attention.layer);
      seen[static_cast<std::size_t>(3 * attention.sample + attention.layer)] = {
          attention.values, attention.values + 3 * 21 * 21};
    };
    const Evaluation result = evaluate(model, inputs, inputs, options);
    EXPECT_EQ(layers, std::vector<int>(9, 3));
    if (threads == 1) {
      first = seen;
      single = result;
    }
    EXPECT_EQ(seen, first);
    EXPECT_EQ(result.logits, single.logits);
    EXPECT_EQ(result.loss, single.loss);
    EXPECT_EQ(result.accuracy, single.accuracy);
  }
}

TEST(Evaluate, SequencesThatDoNotFitAreRefused) {
  const Model model(
      {.vocabulary = 4, .length = 3, .width = 4, .heads = 1, .layers = 1, .hidden = 4});
  const Sequences good{1, 3, {0, 1, 3}};
  const auto message = [&](const Sequences& inputs, const Sequences& answers) -> std::string {
    try {
      evaluate(model, inputs, answers);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(good, good), "");
  EXPECT_EQ(message({1, 2, {0, 1}}, good), "inputs: sequences of length 2, the model has length 3");
  EXPECT_EQ(message(good, {1, 3, {0, 4, 1}}),
            "targets: sequence 0, position 1: token 4 is outside the vocabulary 0..3");
  EXPECT_EQ(message(good, {1, 3, {0, kIgnored, 1}}), "");
  EXPECT_EQ(message(good, {1, 3, {0, -2, 1}}),
            "targets: sequence 0, position 1: token -2 is outside the vocabulary 0..3 (a target of "
            "-1 is ignored)");
  EXPECT_EQ(message(good, {1, 3, {-1, -1, -1}}),
            "targets: every target is -1, which is ignored: give at least one token");
  EXPECT_EQ(message({1, 3, {0, 0, -1}}, good),
            "inputs: sequence 0, position 2: token -1 is outside the vocabulary 0..3");
  EXPECT_EQ(message(good, {2, 3, {0, 0, 0, 1, 1, 1}}), "1 inputs, but 2 targets");
  EXPECT_EQ(message({0, 3, {}}, good), "inputs: no sequences");
}

}  // namespace
}  // namespace synergraph
