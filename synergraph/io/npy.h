#pragma once

#include <optional>
#include <string>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a .npy file (versions 1 to 3): one tensor without a name.
TensorFileContents read_npy(const ByteSourcePtr& bytes);

/// One array in the .npy format: the tensor, or why it has none (an array of text or of Python
/// objects, say). `name` is the tensor's.
struct NpyArray {
  std::optional<Tensor> tensor;
  std::string reason;
};
NpyArray parse_npy(const ByteSourcePtr& bytes, const std::string& name);

/// The bytes before the data of a .npy file, a multiple of 64 in number. InputError for bfloat16,
/// which NumPy does not have.
std::string npy_header(const TensorInfo& info);

/// Writes a .npy file atomically; the tensor's name is not stored.
void write_npy(const std::string& path, const TensorData& tensor);

/// The same bytes piece by piece, for an array larger than memory.
void stream_npy(const std::string& path, const TensorStream& tensor);

}  // namespace synergraph
#pragma GCC visibility pop
