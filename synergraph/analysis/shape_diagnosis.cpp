#include "synergraph/analysis/shape_diagnosis.h"

#include <algorithm>

namespace synergraph {

bool are_parameters(const std::vector<Tensor>& tensors) {
  const auto is_parameter = [](const Tensor& tensor) {
    const std::string& name = tensor.name();
    return name.ends_with("weight") || name.ends_with("bias");
  };
  const auto count = std::count_if(tensors.begin(), tensors.end(), is_parameter);
  return count >= 2 && 2 * static_cast<std::size_t>(count) >= tensors.size();
}

std::string parameters_advice() {
  return "the file holds a model's parameters, not its attention: run the model with "
         "output_attentions=True and save the attentions, or measure the model in Python with "
         "synergraph.watch (docs/formats.md)";
}

bool is_generation_step(const Shape& shape) {
  return shape.size() >= 4 && shape[shape.size() - 2] == 1 && shape.back() > 1;
}

std::string generation_advice() {
  return "one query with many keys is one step of generate(). Run the model once on the generated "
         "ids with output_attentions=True (docs/formats.md)";
}

bool fits_attention(const Tensor& tensor, const std::optional<AttentionAxes>& axes) {
  const Shape& shape = tensor.shape();
  if (!axes && (shape.size() < 2 || shape.size() > 5)) return false;
  const AttentionAxes named = axes ? *axes : default_axes(shape.size());
  if (named.size() != shape.size() || tensor.info().elements() == 0) return false;
  const auto extent = [&](AttentionAxis axis) {
    return shape[static_cast<std::size_t>(std::find(named.begin(), named.end(), axis) -
                                          named.begin())];
  };
  return extent(AttentionAxis::kQuery) == extent(AttentionAxis::kKey);
}

}  // namespace synergraph
