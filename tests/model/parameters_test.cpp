#include "synergraph/model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

TEST(Parameters, ThePapersModelHas172800WhateverTheHeads) {
  for (const int heads : {1, 4, 8, 16}) {
    ModelConfig config;
    config.heads = heads;
    EXPECT_EQ(ParameterLayout(config).size(), 172800U);
  }
}

TEST(Parameters, TensorsTileTheBufferWithoutGaps) {
  const ParameterLayout layout(
      {.vocabulary = 11, .length = 7, .width = 8, .heads = 2, .layers = 2, .hidden = 12});
  std::size_t next = 0;
  for (const ParameterInfo& tensor : layout.tensors()) {
    EXPECT_EQ(tensor.offset, next) << tensor.name;
    next += tensor.size;
  }
  EXPECT_EQ(next, layout.size());
  EXPECT_EQ(layout.find("layers.1.mlp.0.weight").shape, (std::vector<std::int64_t>{12, 8}));
  EXPECT_THROW(layout.find("layers.2.mlp.0.weight"), InputError);
}

TEST(Parameters, ImpossibleSizesAreRefused) {
  const auto message = [](ModelConfig config) -> std::string {
    try {
      const Model model(config);
    } catch (const UsageError& error) {
      return spelled(error.what(), OptionSpelling::kKey);
    }
    return "";
  };
  EXPECT_EQ(message({.heads = 5}), "5 heads do not divide the width 64");
  EXPECT_EQ(message({.layers = 0}), "layers must be between 1 and 1048576, not 0");
  EXPECT_EQ(message({.vocabulary = -3}), "vocabulary must be between 1 and 1048576, not -3");
  EXPECT_EQ(message({.width = 1 << 20, .heads = 1}),
            "the model would have more than 2^31 parameters");
  EXPECT_EQ(message({.vocabulary = 1 << 20, .width = 1024}),  // its embeddings alone
            "the model would have more than 2^31 parameters");
}

TEST(Initialise, DrawsEachTensorFromItsDistribution) {
  Model model(
      {.vocabulary = 300, .length = 50, .width = 32, .heads = 2, .layers = 2, .hidden = 128});
  initialise(model, 7);
  for (const ParameterInfo& tensor : model.layout().tensors()) {
    const float* values = model.tensor(tensor.name);
    double mean = 0.0;
    double square = 0.0;
    double largest = 0.0;
    for (std::size_t k = 0; k < tensor.size; ++k) {
      mean += values[k];
      square += static_cast<double>(values[k]) * values[k];
      largest = std::max(largest, static_cast<double>(std::fabs(values[k])));
    }
    const auto size = static_cast<double>(tensor.size);
    mean /= size;
    square /= size;
    if (tensor.name.find("_emb") != std::string::npos) {
      EXPECT_NEAR(mean, 0.0, 5.0 / std::sqrt(size)) << tensor.name;
      EXPECT_NEAR(square, 1.0, 5.0 * std::sqrt(2.0 / size)) << tensor.name;
    } else if (tensor.name.find(".ln") != std::string::npos) {
      EXPECT_EQ(mean, 1.0);
      EXPECT_EQ(square, 1.0);
    } else {
      const bool from_hidden = tensor.name.find("mlp.2") != std::string::npos;
      const double bound = 1.0 / std::sqrt(from_hidden ? 128.0 : 32.0);
      EXPECT_LE(largest, bound) << tensor.name;
      EXPECT_GT(largest, 0.8 * bound) << tensor.name;
      EXPECT_NEAR(mean, 0.0, 5.0 * bound / std::sqrt(3.0 * size)) << tensor.name;
      EXPECT_NEAR(square, bound * bound / 3.0, 5.0 * bound * bound * std::sqrt(4.0 / 45 / size));
    }
  }
  const auto equal = [&](const char* a, const char* b) {
    return std::equal(model.tensor(a), model.tensor(a) + 32, model.tensor(b));
  };
  EXPECT_FALSE(equal("layers.0.attn.W_q.weight", "layers.0.attn.W_k.weight"));
  EXPECT_FALSE(equal("layers.0.attn.W_q.weight", "layers.1.attn.W_q.weight"));
  EXPECT_FALSE(equal("layers.0.attn.W_q.bias", "layers.0.attn.W_v.bias"));
  EXPECT_FALSE(equal("token_emb.weight", "pos_emb.weight"));
  Model other(model.config());
  initialise(other, 7);
  EXPECT_EQ(other.values(), model.values());
  initialise(other, 8);
  EXPECT_NE(other.values(), model.values());
}

TEST(LearnedHeadWeights, AreNormsOfTheProjectionsColumns) {
  Model model({.vocabulary = 3, .length = 2, .width = 4, .heads = 2, .layers = 1, .hidden = 3});
  EXPECT_THROW(learned_head_weights(model, 0), InputError);  // all zero
  float* projection = model.tensor("layers.0.attn.out_proj.weight");
  projection[0] = 3.0F;    // row 0, column 0: head 0
  projection[5] = -4.0F;   // row 1, column 1: head 0
  projection[14] = 15.0F;  // row 3, column 2: head 1
  EXPECT_EQ(learned_head_weights(model, 0), (std::vector<double>{0.25, 0.75}));
  EXPECT_THROW(learned_head_weights(model, 1), UsageError);
}

}  // namespace
}  // namespace synergraph
