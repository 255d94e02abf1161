#include "synergraph/train/cuda/packing.h"

#include <fmt/core.h>

namespace synergraph::cuda {
namespace {

/// Fills in the places of the tensors of a model.
class Places {
 public:
  explicit Places(const ModelConfig& config)
      : head_width_(config.width / config.heads), layout_(config), places_(layout_.size()) {}

  enum class Of { kNothing, kRows, kColumns };

  /// A matrix whose rows begin at row `first_row` of a device's matrix of `cols` columns. Its rows
  /// or columns may be the features of heads.
  void matrix(const std::string& name, int start, int first_row, int cols,
              Of heads = Of::kNothing) {
    const ParameterInfo& tensor = layout_.find(name);
    for (int row = 0; row < tensor.shape[0]; ++row)
      for (int col = 0; col < tensor.shape[1]; ++col)
        places_[tensor.offset + static_cast<std::size_t>(row * tensor.shape[1] + col)] =
            start + tiled(first_row + (heads == Of::kRows ? slotted(row) : row),
                          heads == Of::kColumns ? slotted(col) : col, cols);
  }
  /// A vector of the features of heads.
  void heads(const std::string& name, int start) {
    const ParameterInfo& tensor = layout_.find(name);
    for (std::size_t k = 0; k < tensor.size; ++k)
      places_[tensor.offset + k] = start + slotted(static_cast<int>(k));
  }
  /// A tensor whose rows of `cols` entries (a vector: one row) follow each other.
  void rows(const std::string& name, int start, int cols) {
    const ParameterInfo& tensor = layout_.find(name);
    const int width = static_cast<int>(tensor.shape.back());
    for (std::size_t k = 0; k < tensor.size; ++k)
      places_[tensor.offset + k] =
          start + static_cast<int>(k) / width * cols + static_cast<int>(k) % width;
  }
  std::vector<std::int32_t> take() { return std::move(places_); }

 private:
  /// Where a feature of a head is, with the heads in slots.
  int slotted(int feature) const {
    return feature / head_width_ * head_slot(head_width_) + feature % head_width_;
  }

  int head_width_;
  ParameterLayout layout_;
  std::vector<std::int32_t> places_;
};

}  // namespace

Layout layout_of(const ModelConfig& config) {
  return {config.layers, config.length, config.vocabulary, config.width, config.heads};
}

int slots_of(const ModelConfig& config) {
  return kWidth / head_slot(config.width / config.heads);
}

std::vector<std::int32_t> packed_places(const ModelConfig& config) {
  const Layout layout = layout_of(config);
  Places places(config);
  places.rows("token_emb.weight", layout.tokens(), kWidth);
  places.rows("pos_emb.weight", layout.positions(), kWidth);
  for (int index = 0; index < config.layers; ++index) {
    const std::string prefix = fmt::format("layers.{}.", index);
    const int start = layout.layer(index);
    places.rows(prefix + "ln1.weight", start + Layout::kNorm1, kWidth);
    places.rows(prefix + "ln2.weight", start + Layout::kNorm2, kWidth);
    int part = 0;
    for (const char* name : {"W_q", "W_k", "W_v"}) {
      places.matrix(prefix + "attn." + name + ".weight", start + Layout::kQkv, part * kWidth,
                    kWidth, Places::Of::kRows);
      places.heads(prefix + "attn." + name + ".bias", start + Layout::kQkvBias + part * kWidth);
      ++part;
    }
    places.matrix(prefix + "attn.out_proj.weight", start + Layout::kProjection, 0, kWidth,
                  Places::Of::kColumns);
    places.rows(prefix + "attn.out_proj.bias", start + Layout::kProjectionBias, kWidth);
    places.matrix(prefix + "mlp.0.weight", start + Layout::kMlpIn, 0, kWidth);
    places.rows(prefix + "mlp.0.bias", start + Layout::kMlpInBias, kHidden);
    places.matrix(prefix + "mlp.2.weight", start + Layout::kMlpOut, 0, kHidden);
    places.rows(prefix + "mlp.2.bias", start + Layout::kMlpOutBias, kWidth);
  }
  places.matrix("out_proj.weight", layout.output(), 0, kWidth);
  places.rows("out_proj.bias", layout.output_bias(), layout.chunks() * kChunk);
  return places.take();
}

std::vector<float> packed_values(const Model& model) {
  const std::vector<std::int32_t> places = packed_places(model.config());
  std::vector<float> packed(static_cast<std::size_t>(layout_of(model.config()).size()));
  for (std::size_t k = 0; k < places.size(); ++k)
    packed[static_cast<std::size_t>(places[k])] = model.values()[k];
  return packed;
}

}  // namespace synergraph::cuda
