#pragma once

#include "synergraph/io/tensor_file.h"
#include "synergraph/model/parameters.h"

namespace synergraph {

/// The model in a checkpoint that has the paper's tensor names, perhaps all under one prefix. Sizes
/// come from the tensors' shapes. The number of heads is not in the weights: it is the file's
/// metadata entry "heads", else `heads` when positive, else the H of a file name "H_heads_...".
/// InputError when none of these says it, `heads` contradicts the metadata, or a tensor is missing,
/// misshapen or not finite.
Model load_model(const TensorFile& file, int heads = 0);

}  // namespace synergraph
