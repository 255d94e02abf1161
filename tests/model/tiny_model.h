#pragma once

#include <string>

#include "synergraph/io/tensor_file.h"
#include "synergraph/model/evaluate.h"

namespace synergraph {

/// A two-layer model with its loss, logits, gradients and Adam steps, from an independent NumPy
/// implementation in float64.
class TinyReference {
 public:
  TinyReference()
      : file(TensorFile::open(SYNERGRAPH_TEST_DATA "/train_tiny.safetensors")),
        inputs(sequences("x")),
        targets(sequences("y")) {
    const auto sizes = file.at("config").values<std::int64_t>();
    const auto size = [&](std::size_t k) { return static_cast<int>(sizes[k]); };
    config = {.vocabulary = size(0),
              .length = size(1),
              .width = size(2),
              .heads = size(3),
              .layers = size(4),
              .hidden = size(5)};
  }

  /// The model at "init", "after1" or "after10"; or a buffer of its layout, "grad".
  Model model(const std::string& stage) const {
    Model result(config);
    for (const ParameterInfo& tensor : result.layout().tensors()) {
      const auto values = file.at(stage + "/" + tensor.name).values<float>();
      std::copy(values.begin(), values.end(), result.tensor(tensor.name));
    }
    return result;
  }

  TensorFile file;
  ModelConfig config;
  Sequences inputs;
  Sequences targets;

 private:
  Sequences sequences(const char* name) const {
    const Tensor& tensor = file.at(name);
    Sequences result{static_cast<int>(tensor.shape()[0]), static_cast<int>(tensor.shape()[1]), {}};
    for (const std::int64_t token : tensor.values<std::int64_t>())
      result.tokens.push_back(static_cast<std::int32_t>(token));
    return result;
  }
};

}  // namespace synergraph
