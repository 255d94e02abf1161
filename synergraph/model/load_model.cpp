#include "synergraph/model/load_model.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

/// The whole of `text` as a positive integer.
std::optional<int> positive_integer(std::string_view text) {
  int value = 0;
  return parse_number(text, value) && value >= 1 ? std::optional(value) : std::nullopt;
}

std::optional<int> heads_in_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::size_t end = path.find("_heads");
  if (end == std::string_view::npos) return std::nullopt;
  return positive_integer(path.substr(0, end));
}

}  // namespace

HeadCount head_count(const TensorFile& file, int heads) {
  const auto entry = file.metadata().find("heads");
  if (entry != file.metadata().end()) {
    const auto value = positive_integer(entry->second);
    if (!value)
      throw InputError(fmt::format("{}: metadata 'heads' is {}, expected a positive integer",
                                   file.path(), quoted_text(entry->second)));
    if (heads > 0 && heads != *value)
      throw InputError(fmt::format("{}: the file says that it has {} heads, not {}: leave out {}",
                                   file.path(), *value, heads, option_mark("heads")));
    return {*value};
  }
  if (heads > 0) return {heads};
  const auto value = heads_in_name(file.path());
  if (!value)
    throw InputError(fmt::format("{}: the number of heads is not in the file: give it with {}",
                                 file.path(), option_mark("heads")));
  return {*value, true};
}

namespace {

/// One extent of a matrix in the file, as a size of the model.
int extent(const TensorFile& file, const std::string& name, std::size_t axis) {
  const Tensor& tensor = file.at(name);
  if (tensor.shape().size() != 2)
    throw InputError(fmt::format("{}: expected a matrix, not shape {}", tensor.where(),
                                 to_string(tensor.shape())));
  const std::int64_t value = tensor.shape()[axis];
  if (value < 1 || value > (std::int64_t{1} << 20U))
    throw InputError(fmt::format("{}: shape {} is not that of a model", tensor.where(),
                                 to_string(tensor.shape())));
  return static_cast<int>(value);
}

int layer_count(const TensorFile& file, const std::string& prefix) {
  int layers = 0;
  while (file.find(fmt::format("{}layers.{}.ln1.weight", prefix, layers)) != nullptr) ++layers;
  if (layers == 0)
    throw InputError(fmt::format("{}: no tensor '{}layers.0.ln1.weight': not a model of this kind",
                                 file.path(), prefix));
  return layers;
}

ModelConfig config_of(const TensorFile& file, const std::string& prefix, int heads) {
  ModelConfig config;
  config.vocabulary = extent(file, prefix + "token_emb.weight", 0);
  config.width = extent(file, prefix + "token_emb.weight", 1);
  config.length = extent(file, prefix + "pos_emb.weight", 0);
  config.layers = layer_count(file, prefix);
  config.hidden = extent(file, prefix + "layers.0.mlp.0.weight", 0);
  config.heads = head_count(file, heads).heads;
  try {
    validate(config);
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", file.path(), error.what()));
  }
  return config;
}

}  // namespace

Model load_model(const TensorFile& file, int heads) {
  const std::string prefix = file.prefix_of("token_emb.weight");
  Model model(config_of(file, prefix, heads));
  for (const ParameterInfo& parameter : model.layout().tensors()) {
    const Tensor& tensor = file.at(prefix + parameter.name);
    if (tensor.shape() != parameter.shape)
      throw InputError(fmt::format("{}: shape {}, expected {}", tensor.where(),
                                   to_string(tensor.shape()), to_string(parameter.shape)));
    float* values = model.values().data() + parameter.offset;
    tensor.read(0, static_cast<std::int64_t>(parameter.size), values);
    for (std::size_t k = 0; k < parameter.size; ++k) {
      if (!std::isfinite(values[k]))
        throw InputError(fmt::format("{}: entry {} is not finite", tensor.where(), k));
    }
  }
  return model;
}

}  // namespace synergraph
