#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "synergraph/io/tensor.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The largest number of tensors in a file. Readers refuse files with more tensors.
inline constexpr std::size_t kMaxTensors = 1'000'000;

/// A well-formed entry of a file that holds no numbers for us, and the reason.
struct SkippedTensor {
  std::string name;
  std::string reason;
};

/// The contents that a parser finds in a file.
struct TensorFileContents {
  std::vector<Tensor> tensors;
  std::vector<SkippedTensor> skipped;
  std::map<std::string, std::string> metadata;
};

}  // namespace synergraph
#pragma GCC visibility pop
