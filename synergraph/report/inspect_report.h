#pragma once

#include <string>

#include "synergraph/io/tensor_file.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The tensors and the metadata of a file, as docs/formats.md describes it.
std::string json_report(const TensorFile& file);

}  // namespace synergraph
#pragma GCC visibility pop
