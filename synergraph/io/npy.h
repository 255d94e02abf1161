#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "synergraph/io/atomic_file.h"
#include "synergraph/io/tensor_file.h"

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

/// Writes a .npy file piece by piece, for arrays larger than memory. The file appears when
/// commit() is called, which needs every element to have been written.
class NpyWriter {
 public:
  NpyWriter(std::string path, TensorInfo info);

  /// The next `count` elements in C order, of the type given as info.dtype.
  void write(const void* elements, std::int64_t count);
  void commit();

 private:
  std::string path_;
  TensorInfo info_;
  AtomicFile file_;
  std::int64_t left_;
};

}  // namespace synergraph
