#include "synergraph/model/parameters.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/heads/head.h"

namespace synergraph {
namespace {

/// How a tensor is drawn before training.
enum class Draw { kNormal, kUniform, kOne };

Draw draw_of(const std::string& name) {
  if (name.find("_emb.") != std::string::npos) return Draw::kNormal;
  if (name.find(".ln") != std::string::npos) return Draw::kOne;
  return Draw::kUniform;
}

}  // namespace

ParameterLayout::ParameterLayout(const ModelConfig& config) {
  const std::int64_t v = config.vocabulary;
  const std::int64_t n = config.length;
  const std::int64_t e = config.width;
  const std::int64_t f = config.hidden;
  add("token_emb.weight", {v, e});
  add("pos_emb.weight", {n, e});
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    add(prefix + "ln1.weight", {e});
    for (const char* name : {"W_q", "W_k", "W_v"}) add(prefix + "attn." + name + ".weight", {e, e});
    for (const char* name : {"W_q", "W_k", "W_v"}) add(prefix + "attn." + name + ".bias", {e});
    add(prefix + "attn.out_proj.weight", {e, e});
    add(prefix + "attn.out_proj.bias", {e});
    add(prefix + "ln2.weight", {e});
    add(prefix + "mlp.0.weight", {f, e});
    add(prefix + "mlp.0.bias", {f});
    add(prefix + "mlp.2.weight", {e, f});
    add(prefix + "mlp.2.bias", {e});
  }
  add("out_proj.weight", {v, e});
  add("out_proj.bias", {v});
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  places_.emplace(name, tensors_.size());
  tensors_.push_back({std::move(name), std::move(shape), size_, size});
  size_ += size;
}

const ParameterInfo& ParameterLayout::find(std::string_view name) const {
  if (const auto found = places_.find(name); found != places_.end()) return tensors_[found->second];
  throw InputError(fmt::format("the model has no tensor '{}'", name));
}

template <class T>
ModelTensors<T> tensors_of(const ModelConfig& config, const ParameterLayout& layout, T* values) {
  const auto at = [&](const std::string& name) { return values + layout.find(name).offset; };
  ModelTensors<T> tensors{
      at("token_emb.weight"), at("pos_emb.weight"), {}, at("out_proj.weight"), at("out_proj.bias")};
  tensors.layers.reserve(static_cast<std::size_t>(config.layers));
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = fmt::format("layers.{}.", layer);
    tensors.layers.push_back({at(prefix + "ln1.weight"), at(prefix + "attn.W_q.weight"),
                              at(prefix + "attn.W_q.bias"), at(prefix + "attn.out_proj.weight"),
                              at(prefix + "attn.out_proj.bias"), at(prefix + "ln2.weight"),
                              at(prefix + "mlp.0.weight"), at(prefix + "mlp.0.bias"),
                              at(prefix + "mlp.2.weight"), at(prefix + "mlp.2.bias")});
  }
  return tensors;
}

template ModelTensors<float> tensors_of(const ModelConfig&, const ParameterLayout&, float*);
template ModelTensors<const float> tensors_of(const ModelConfig&, const ParameterLayout&,
                                              const float*);

namespace {

const ModelConfig& validated(const ModelConfig& config) {
  validate(config);
  return config;
}

}  // namespace

Model::Model(const ModelConfig& config)
    : config_(validated(config)), layout_(config), values_(layout_.size(), 0.0F) {}

void initialise(Model& model, std::uint64_t seed) {
  std::uint32_t index = 0;
  double bound = 1.0;  // a bias follows its weight and shares its fan_in
  for (const ParameterInfo& tensor : model.layout().tensors()) {
    float* values = model.values().data() + tensor.offset;
    const RandomStream stream(seed, Purpose::kInitialisation, index++);
    const Draw draw = draw_of(tensor.name);
    if (tensor.shape.size() == 2) bound = 1.0 / std::sqrt(static_cast<double>(tensor.shape[1]));
    for (std::size_t k = 0; k < tensor.size; ++k) {
      if (draw == Draw::kOne)
        values[k] = 1.0F;
      else if (draw == Draw::kNormal)
        values[k] = static_cast<float>(stream.normals(k / 2)[k % 2]);
      else
        values[k] = static_cast<float>(bound * (2.0 * stream.uniforms(k / 2)[k % 2] - 1.0));
    }
  }
}

std::vector<double> learned_head_weights(const Model& model, int layer) {
  const ModelConfig& config = model.config();
  if (layer < 0 || layer >= config.layers)
    throw UsageError(fmt::format("layer {} of a model with {} layers", layer, config.layers));
  const float* weight = model.tensor(fmt::format("layers.{}.attn.out_proj.weight", layer));
  Matrix projection(config.width, config.width);
  for (int row = 0; row < config.width; ++row)
    for (int column = 0; column < config.width; ++column)
      projection(row, column) = weight[row * config.width + column];
  return learned_weights(projection, config.heads);
}

}  // namespace synergraph
