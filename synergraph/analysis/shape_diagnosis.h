#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/attention_axes.h"
#include "synergraph/io/tensor.h"

namespace synergraph {

/// What files hold that was taken for attention, by the names and the shapes of their tensors.

/// Whether the tensors are a model's parameters: two at least, and most are called "...weight" or
/// "...bias".
bool are_parameters(const std::vector<Tensor>& tensors);

/// What the file is, and what to do instead of reading parameters.
std::string parameters_advice();

/// Whether a tensor is a step of a text that was generated with a cache: (samples, heads, 1, keys).
bool is_generation_step(const Shape& shape);

/// What they are, and what to do with them.
std::string generation_advice();

/// Whether a tensor has a shape of attention with these axes; nothing: the usual ones.
bool fits_attention(const Tensor& tensor, const std::optional<AttentionAxes>& axes);

}  // namespace synergraph
