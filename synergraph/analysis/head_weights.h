#pragma once

#include <string>
#include <vector>

#include "synergraph/heads/attention_source.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/model/parameters.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Normalised head weights, one list a layer.
using LayerWeights = std::vector<std::vector<double>>;

/// InputError unless there is one weight for every head of every layer, and they can be normalised.
void require_weights(const std::vector<AttentionLayer>& layers, const LayerWeights& weights);

/// Equal weights.
LayerWeights uniform_weights(const std::vector<AttentionLayer>& layers);

/// The same raw weights for every layer.
LayerWeights given_weights(const std::vector<AttentionLayer>& layers,
                           const std::vector<double>& raw);

/// Raw weights from a file with one tensor: (heads) for every layer, or (layers, heads).
LayerWeights weights_of_file(const std::vector<AttentionLayer>& layers, const std::string& path);

/// Learned weights (theory: "Learned head weights") from attention output projections in a file:
/// one (E, E) matrix for all layers, (layers, E, E), or an archive. Of an archive the square
/// matrices named ...attn...out_proj.weight or ...o_proj.weight are taken, in natural order, or all
/// tensors if there are none; as many as there are layers.
LayerWeights weights_of_projections(const std::vector<AttentionLayer>& layers,
                                    const std::string& path);

/// Learned weights of a model.
LayerWeights weights_of_model(const Model& model);

}  // namespace synergraph
#pragma GCC visibility pop
