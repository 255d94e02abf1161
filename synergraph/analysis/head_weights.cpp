#include "synergraph/analysis/head_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/analysis/attention_file.h"
#include "synergraph/analysis/name_pattern.h"
#include "synergraph/core/error.h"
#include "synergraph/heads/head.h"

namespace synergraph {
namespace {

/// normalised_weights() with the layer in its message.
std::vector<double> weights_of(const AttentionLayer& layer, const std::vector<double>& raw,
                               const std::string& where) {
  try {
    return normalised_weights(raw, static_cast<std::size_t>(layer.heads));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: layer {}: {}", where, layer.name, error.what()));
  }
}

const Tensor& only_tensor(const TensorFile& file, const char* what) {
  if (file.tensors().size() != 1)
    throw InputError(fmt::format("{}: expected one tensor of {}, found {}", file.path(), what,
                                 file.tensors().size()));
  return file.tensors().front();
}

/// One output projection: rows x cols elements of a tensor from `first` on.
std::vector<double> learned(const Tensor& tensor, std::int64_t first, std::int64_t rows,
                            std::int64_t cols, const AttentionLayer& layer) {
  constexpr std::int64_t kLargest = 1 << 16;
  if (rows < 1 || cols < 1 || rows > kLargest || cols > kLargest)
    throw InputError(fmt::format("{}: shape {} is not that of an output projection", tensor.where(),
                                 to_string(tensor.shape())));
  std::vector<double> values(static_cast<std::size_t>(rows * cols));
  tensor.read(first, rows * cols, values.data());
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    throw InputError(fmt::format("{}: an entry is not finite", tensor.where()));
  try {
    return learned_weights({values.data(), static_cast<int>(rows), static_cast<int>(cols), cols},
                           layer.heads);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: layer {}: {}", tensor.where(), layer.name, error.what()));
  }
}

/// The attention output projections among an archive's tensors.
std::vector<Tensor> projections(const TensorFile& file) {
  std::vector<Tensor> chosen;
  const NamePattern usual(R"((att.*out_proj|o_proj)\.weight$)");
  for (const Tensor& tensor : choose_tensors(file, ""))
    if (usual.matches(tensor.name())) chosen.push_back(tensor);
  return chosen.empty() ? choose_tensors(file, "") : chosen;
}

}  // namespace

void require_weights(const std::vector<AttentionLayer>& layers, const LayerWeights& weights) {
  if (weights.size() != layers.size())
    throw InputError(fmt::format("weights of {} layers, for {}", weights.size(), layers.size()));
  for (std::size_t l = 0; l < layers.size(); ++l) try {
      (void)normalised_weights(weights[l], static_cast<std::size_t>(layers[l].heads));
    } catch (const InputError& error) {
      throw InputError(fmt::format("layer {}: {}", layers[l].name, error.what()));
    }
}

LayerWeights uniform_weights(const std::vector<AttentionLayer>& layers) {
  LayerWeights weights;
  for (const AttentionLayer& layer : layers)
    weights.emplace_back(static_cast<std::size_t>(layer.heads), 1.0 / layer.heads);
  return weights;
}

LayerWeights given_weights(const std::vector<AttentionLayer>& layers,
                           const std::vector<double>& raw) {
  LayerWeights weights;
  for (const AttentionLayer& layer : layers)
    weights.push_back(weights_of(layer, raw, "head weights"));
  return weights;
}

LayerWeights weights_of_file(const std::vector<AttentionLayer>& layers, const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  const Tensor& tensor = only_tensor(file, "head weights");
  const Shape& shape = tensor.shape();
  const bool shared = shape.size() == 1;
  if (shape.empty() || shape.size() > 2 || shape.back() > 1 << 20U)
    throw InputError(fmt::format("{}: shape {}: expected head weights (heads) or (layers, heads)",
                                 tensor.where(), to_string(shape)));
  if (!shared && shape.front() != static_cast<std::int64_t>(layers.size()))
    throw InputError(fmt::format("{}: weights of {} layers, but there are {}", tensor.where(),
                                 shape.front(), layers.size()));
  LayerWeights weights;
  std::vector<double> raw(static_cast<std::size_t>(shape.back()));
  for (std::size_t l = 0; l < layers.size(); ++l) {
    tensor.read(shared ? 0 : static_cast<std::int64_t>(l) * shape.back(), shape.back(), raw.data());
    weights.push_back(weights_of(layers[l], raw, tensor.where()));
  }
  return weights;
}

LayerWeights weights_of_projections(const std::vector<AttentionLayer>& layers,
                                    const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  const std::vector<Tensor> tensors = projections(file);
  const Tensor& tensor = tensors.front();
  const Shape& shape = tensor.shape();
  LayerWeights weights;
  const auto count_error = [&](std::size_t found) {
    return InputError(
        fmt::format("{}: {} output projections for {} layers", file.path(), found, layers.size()));
  };
  if (tensors.size() == 1 && shape.size() == 3) {
    if (shape[0] != static_cast<std::int64_t>(layers.size()))
      throw count_error(static_cast<std::size_t>(shape[0]));
    for (std::size_t l = 0; l < layers.size(); ++l)
      weights.push_back(learned(tensor, static_cast<std::int64_t>(l) * shape[1] * shape[2],
                                shape[1], shape[2], layers[l]));
    return weights;
  }
  if (tensors.size() != 1 && tensors.size() != layers.size()) throw count_error(tensors.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Tensor& own = tensors.size() == 1 ? tensor : tensors[l];
    if (own.shape().size() != 2)
      throw InputError(fmt::format("{}: shape {}: expected an output projection, a matrix",
                                   own.where(), to_string(own.shape())));
    weights.push_back(learned(own, 0, own.shape()[0], own.shape()[1], layers[l]));
  }
  return weights;
}

LayerWeights weights_of_model(const Model& model) {
  LayerWeights weights;
  for (int layer = 0; layer < model.config().layers; ++layer)
    weights.push_back(learned_head_weights(model, layer));
  return weights;
}

}  // namespace synergraph
