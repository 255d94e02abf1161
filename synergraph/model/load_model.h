#pragma once

#include "synergraph/io/tensor_file.h"
#include "synergraph/model/parameters.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of heads of a checkpoint, and whether its file's name alone says it.
struct HeadCount {
  int heads = 0;
  bool from_name = false;
};

/// It is not in the weights: it is the file's metadata entry "heads", else `heads` when positive,
/// else the H of a file name "H_heads_...". InputError when none of these says it or `heads`
/// contradicts the metadata.
HeadCount head_count(const TensorFile& file, int heads = 0);

/// The model in a checkpoint that has the paper's tensor names, perhaps all under one prefix. Sizes
/// come from the tensors' shapes, the number of heads from head_count(). InputError also when a
/// tensor is missing, misshapen or not finite.
Model load_model(const TensorFile& file, int heads = 0);

}  // namespace synergraph
#pragma GCC visibility pop
