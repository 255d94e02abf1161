#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/model/config.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One named tensor inside the flat buffer of a model's parameters.
struct ParameterInfo {
  std::string name;                 ///< the authors' name, e.g. "layers.0.attn.W_q.weight"
  std::vector<std::int64_t> shape;  ///< (rows, columns), or (entries) for a bias or a gain
  std::size_t offset = 0;           ///< first entry in the flat buffer
  std::size_t size = 0;             ///< number of entries
};

/// Where every tensor of a model lies in one flat buffer. Parameters, gradients and the optimiser's
/// moments all share this layout.
class ParameterLayout {
 public:
  explicit ParameterLayout(const ModelConfig& config);

  const std::vector<ParameterInfo>& tensors() const { return tensors_; }
  std::size_t size() const { return size_; }
  /// The tensor of that name; InputError when there is none.
  const ParameterInfo& find(std::string_view name) const;

 private:
  void add(std::string name, std::vector<std::int64_t> shape);

  std::vector<ParameterInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>>
      places_;  ///< by name: models may have many layers
  std::size_t size_ = 0;
};

/// Pointers to the tensors of one layer. W_q, W_k and W_v follow each other, and so do their
/// biases: together they are one (3E x E) linear map.
template <class T>
struct LayerTensors {
  T* norm1;         ///< (E) gain
  T* qkv_weight;    ///< (3E, E)
  T* qkv_bias;      ///< (3E)
  T* attn_weight;   ///< (E, E) attention output projection
  T* attn_bias;     ///< (E)
  T* norm2;         ///< (E) gain
  T* mlp_in;        ///< (F, E)
  T* mlp_in_bias;   ///< (F)
  T* mlp_out;       ///< (E, F)
  T* mlp_out_bias;  ///< (E)
};

/// Pointers to the tensors of a model inside a flat buffer.
template <class T>
struct ModelTensors {
  T* token_embedding;     ///< (V, E)
  T* position_embedding;  ///< (n, E)
  std::vector<LayerTensors<T>> layers;
  T* output_weight;  ///< (V, E)
  T* output_bias;    ///< (V)
};

/// The named views of a flat buffer of layout.size() entries.
template <class T>
[[gnu::visibility("default")]] ModelTensors<T> tensors_of(const ModelConfig& config,
                                                          const ParameterLayout& layout, T* values);

/// A Transformer: its sizes and its parameters.
class Model {
 public:
  /// All parameters zero. Throws UsageError when the configuration is not valid.
  explicit Model(const ModelConfig& config);

  const ModelConfig& config() const { return config_; }
  const ParameterLayout& layout() const { return layout_; }
  AlignedVector<float>& values() { return values_; }
  const AlignedVector<float>& values() const { return values_; }
  /// First entry of the tensor of that name.
  float* tensor(std::string_view name) { return values_.data() + layout_.find(name).offset; }
  const float* tensor(std::string_view name) const {
    return values_.data() + layout_.find(name).offset;
  }
  ModelTensors<const float> tensors() const { return tensors_of(config_, layout_, values_.data()); }

 private:
  ModelConfig config_;
  ParameterLayout layout_;
  AlignedVector<float> values_;
};

/// The paper's initialisation from `seed`: embeddings N(0,1), linear weights and biases uniform in
/// +-1/sqrt(fan_in), norm gains 1. Entry k of tensor t depends on (seed, t, k) alone.
void initialise(Model& model, std::uint64_t seed);

/// The learned weight of every head of a layer: the Frobenius norm of the head's block of columns
/// in the attention output projection, normalised to sum 1.
std::vector<double> learned_head_weights(const Model& model, int layer);

}  // namespace synergraph
#pragma GCC visibility pop
