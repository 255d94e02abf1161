#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "synergraph/io/tensor_stream.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A format in which tensors are written, chosen by the ending of the file.
struct FileWriter {
  std::string_view ending;
  /// Writes the file atomically.
  void (*write)(const std::string& path, std::span<const TensorStream> tensors,
                const std::map<std::string, std::string>& metadata);
  bool several;   ///< the format holds several named tensors; other formats hold one tensor
  bool bfloat16;  ///< the format holds bfloat16; other formats store bfloat16 values as float32
};

/// Returns the writer for this ending, or null.
const FileWriter* find_writer(std::string_view ending);

/// The endings of all writers: ".npy, .npz or .safetensors".
std::string written_endings();

}  // namespace synergraph
#pragma GCC visibility pop
