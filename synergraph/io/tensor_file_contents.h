#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "synergraph/io/tensor.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Files with more tensors than this are refused.
inline constexpr std::size_t kMaxTensors = 1'000'000;

/// Something in a file that is well formed but has no numbers for us, and why.
struct SkippedTensor {
  std::string name;
  std::string reason;
};

/// What a parser finds in a file.
struct TensorFileContents {
  std::vector<Tensor> tensors;
  std::vector<SkippedTensor> skipped;
  std::map<std::string, std::string> metadata;
};

}  // namespace synergraph
#pragma GCC visibility pop
