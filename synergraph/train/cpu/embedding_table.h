#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/sequence_pass.h"

namespace synergraph {

/// The first layer's queries, keys and values, looked up instead of multiplied out. RMSNorm scales
/// the embedding of a position by one number r, so that
///   qkv = r (T[token] + T[V + position]) + bias,   T[e] = W (gain * embedding e),
/// with a row of T for each of the V tokens and n positions. A step projects V + n embeddings once
/// instead of every position of its batch, and the gradients go back the same way.
class EmbeddingTable {
 public:
  explicit EmbeddingTable(const ModelConfig& config);

  /// Whether this takes clearly less work than projecting that many positions.
  static bool pays(const ModelConfig& config, double positions);

  std::size_t size() const { return values_.size(); }  ///< floats of T

  /// Fills T. `transposed` comes from transpose_weights.
  void prepare(const ModelTensors<const float>& model, const ModelTensors<const float>& transposed,
               int threads);

  /// The first layer's inverse_rms1 and qkv from its x. scratch: (length x 3E).
  void forward(const SequenceShape& shape, const std::int32_t* tokens,
               const LayerTensors<const float>& model, const LayerActivations& layer,
               float* scratch) const;

  /// Adds the gradient of T to dtable, which is laid out like T, and to dx what r passes on to x;
  /// dqkv is scaled by r. scratch: (length x 3E).
  void backward(const SequenceShape& shape, const std::int32_t* tokens,
                const LayerTensors<const float>& model, const LayerActivations& layer, float* dqkv,
                float* scratch, float* dx, float* dtable) const;

  /// From the gradient of T: adds to the gradient of the embeddings, and sets that of the first
  /// layer's qkv_weight and norm1.
  void finish(const ModelTensors<const float>& model, const float* dtable, int threads,
              const ModelTensors<float>& gradient);

 private:
  int rows() const { return config_.vocabulary + config_.length; }
  /// Where the rows of the positions begin.
  std::ptrdiff_t positions() const {
    return static_cast<std::ptrdiff_t>(config_.vocabulary) * stride_;
  }

  ModelConfig config_;
  int stride_;                   ///< floats from a row of T to the next: padded(3E)
  AlignedVector<float> values_;  ///< T
  AlignedVector<float> scaled_;  ///< (E x stride_): W^T, row c times gain c; then (3E x E) alike
  AlignedVector<float> dembeddings_;  ///< (V + n x padded(E))
  AlignedVector<float> dscaled_;      ///< (3E x padded(E))
};

}  // namespace synergraph
