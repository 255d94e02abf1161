#pragma once

#include "synergraph/io/tensor_file.h"
#include "synergraph/model/parameters.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of heads of a checkpoint, and whether only the file name gives this number.
struct HeadCount {
  int heads = 0;
  bool from_name = false;
};

/// Finds the number of heads, which the weights do not contain. The metadata entry "heads" comes
/// first, then `heads` if positive, then the H of a file name "H_heads_...". Throws InputError if
/// no source gives the number or if `heads` contradicts the metadata.
HeadCount head_count(const TensorFile& file, int heads = 0);

/// Loads the model in a checkpoint with the paper's tensor names, perhaps all under one prefix.
/// Sizes come from the shapes of the tensors, and the number of heads from head_count(). Throws
/// InputError also if a tensor is missing, misshapen or not finite.
Model load_model(const TensorFile& file, int heads = 0);

}  // namespace synergraph
#pragma GCC visibility pop
