#include "synergraph/analysis/head_weights.h"

#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

const std::vector<AttentionLayer> kLayers = {{"0", 1, 2, 4}, {"1", 1, 2, 4}};

class HeadWeightsTest : public InTemporaryDirectory {};

TEST_F(HeadWeightsTest, UniformAndGivenWeightsSumToOne) {
  EXPECT_EQ(uniform_weights(kLayers), (LayerWeights{{0.5, 0.5}, {0.5, 0.5}}));
  EXPECT_EQ(given_weights(kLayers, {1.0, 3.0}), (LayerWeights{{0.25, 0.75}, {0.25, 0.75}}));
  EXPECT_THROW(given_weights(kLayers, {1.0}), InputError);
  EXPECT_THROW(given_weights(kLayers, {1.0, -1.0}), InputError);
  EXPECT_THROW(given_weights(kLayers, {0.0, 0.0}), InputError);
}

TEST_F(HeadWeightsTest, AFileHoldsOneRowOrOneALayer) {
  const std::string file = path("weights.npy");
  const std::vector<double> raw = {1.0, 3.0, 1.0, 1.0, 5.0, 5.0};
  write_npy(file, tensor_data("", {2}, raw.data()));
  EXPECT_EQ(weights_of_file(kLayers, file), (LayerWeights{{0.25, 0.75}, {0.25, 0.75}}));
  write_npy(file, tensor_data("", {2, 2}, raw.data()));
  EXPECT_EQ(weights_of_file(kLayers, file), (LayerWeights{{0.25, 0.75}, {0.5, 0.5}}));
  write_npy(file, tensor_data("", {3, 2}, raw.data()));
  EXPECT_THROW(weights_of_file(kLayers, file), InputError);
  write_npy(file, tensor_data("", {2, 3}, raw.data()));
  EXPECT_THROW(weights_of_file(kLayers, file), InputError);
  write_npy(file, tensor_data("", {2, 0}, raw.data()));
  EXPECT_THROW(weights_of_file(kLayers, file), InputError);
}

TEST_F(HeadWeightsTest, ProjectionsWeighTheirColumnBlocks) {
  // Columns 0..1 belong to head 0, columns 2..3 to head 1; Frobenius norms 5 and 15.
  const std::vector<double> projection = {3.0, 0.0, 0.0,  9.0,  //
                                          0.0, 4.0, 12.0, 0.0};
  const std::string one = path("one.npy");
  write_npy(one, tensor_data("", {2, 4}, projection.data()));
  EXPECT_EQ(weights_of_projections(kLayers, one), (LayerWeights{{0.25, 0.75}, {0.25, 0.75}}));

  // In a checkpoint they are found by name, in natural order, beside other tensors.
  const std::vector<double> even(8, 1.0);
  const std::vector<TensorData> tensors = {
      tensor_data("layers.10.attn.out_proj.weight", {2, 4}, even.data()),
      tensor_data("layers.2.attn.out_proj.weight", {2, 4}, projection.data()),
      tensor_data("out_proj.weight", {4, 2}, even.data())};
  const std::string archive = path("model.safetensors");
  write_safetensors(archive, tensors);
  EXPECT_EQ(weights_of_projections(kLayers, archive), (LayerWeights{{0.25, 0.75}, {0.5, 0.5}}));
  const std::vector<AttentionLayer> three(3, kLayers.front());
  EXPECT_THROW(weights_of_projections(three, archive), InputError);
  const std::vector<AttentionLayer> odd = {{"0", 1, 3, 4}};
  EXPECT_THROW(weights_of_projections(odd, one), InputError);  // 4 columns, 3 heads
}

// Among a checkpoint's tensors only the weights of attention's own output projections count.
TEST_F(HeadWeightsTest, OnlyWeightsOfAttentionsOutputAreProjections) {
  const std::vector<double> uneven = {3.0, 0.0, 0.0,  9.0,  //
                                      0.0, 4.0, 12.0, 0.0};
  const std::vector<double> even(8, 1.0);
  const std::vector<AttentionLayer> layers = {kLayers.front()};
  const LayerWeights of_uneven = {{0.25, 0.75}};
  const auto weights_beside = [&](const std::string& name, const std::string& other) {
    const std::string archive = path("model.safetensors");
    const std::vector<TensorData> tensors = {tensor_data(name, {2, 4}, uneven.data()),
                                             tensor_data(other, {2, 4}, even.data())};
    write_safetensors(archive, tensors);
    return weights_of_projections(layers, archive);
  };
  for (const char* name :
       {"h.0.attn.out_proj.weight", "decoder.0.self_attention.inner.out_proj.weight",
        "model.layers.0.self_attn.o_proj.weight", "o_proj.weight"})
    for (const char* other :
         {"h.0.attn.out_proj.bias", "a.out_proj.weight", "a.attn.out_proj.weight_scale",
          "a.self_attn.o_proj.weight.scale", "a.self_attn.o_projXweight", "a.attn.q_proj.weight",
          "a.mlp.down_proj.weight", "z.attn.in_proj_weight"})
      EXPECT_EQ(weights_beside(name, other), of_uneven) << name << " beside " << other;

  // Where no name is known every tensor is one, and there must be one a layer.
  EXPECT_THROW(weights_beside("first", "second"), InputError);
  EXPECT_THROW(weights_beside("a.attn.out_proj.weight", "b.attn.out_proj.weight"), InputError);
  const std::string only = path("only.safetensors");
  write_safetensors(only, {{tensor_data("projection", {2, 4}, uneven.data())}});
  EXPECT_EQ(weights_of_projections(layers, only), of_uneven);
}

}  // namespace
}  // namespace synergraph
