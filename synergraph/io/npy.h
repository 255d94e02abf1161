#pragma once

#include <optional>
#include <string>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a .npy file (versions 1 to 3): one tensor without a name.
TensorFileContents read_npy(const ByteSourcePtr& bytes);

/// One array in the .npy format: the tensor, or the reason why there is no tensor. Arrays of text
/// or of Python objects give no tensor. `name` is the name of the tensor.
struct NpyArray {
  std::optional<Tensor> tensor;
  std::string reason;
};
NpyArray parse_npy(const ByteSourcePtr& bytes, const std::string& name);

/// The bytes before the data of a .npy file; their number is a multiple of 64. Throws InputError
/// for bfloat16, which NumPy does not have.
std::string npy_header(const TensorInfo& info);

/// The bytes before a text of so many bytes, which is an array without dimensions.
std::string npy_text_header(std::size_t length);

/// Writes a .npy file atomically, without the name of the tensor.
void write_npy(const std::string& path, const TensorData& tensor);

/// Writes the bytes of write_npy() piece by piece, for an array larger than memory.
void stream_npy(const std::string& path, const TensorStream& tensor);

}  // namespace synergraph
#pragma GCC visibility pop
