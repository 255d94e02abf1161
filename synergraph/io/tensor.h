#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/io/byte_source.h"
#include "synergraph/io/dtype.h"
#include "synergraph/io/tensor_info.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A tensor in a file: cheap to copy, reads on demand. Nothing is kept in memory; read a tensor
/// larger than memory in slabs.
class Tensor {
 public:
  /// InputError when an element would lie outside the bytes.
  Tensor(TensorInfo info, ByteSourcePtr bytes, TensorLayout layout);

  const TensorInfo& info() const { return info_; }
  const std::string& name() const { return info_.name; }
  const Shape& shape() const { return info_.shape; }

  /// "FILE: tensor 'NAME'", the beginning of every message about this tensor.
  std::string where() const;

  /// Elements [first, first + count) in C order of the logical shape, converted. Integers need a
  /// tensor of integers or bool. Several threads may read at once.
  void read(std::int64_t first, std::int64_t count, double* out) const;
  void read(std::int64_t first, std::int64_t count, float* out) const;
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const;

  /// The same in the tensor's own type, bit for bit (a bool is 0 or 1), to memory aligned for it.
  void read_elements(std::int64_t first, std::int64_t count, void* out) const;

  /// The whole tensor: T is double, float or std::int64_t.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> all(static_cast<std::size_t>(info_.elements()));
    read(0, info_.elements(), all.data());
    return all;
  }

  /// The same elements with axis order[d] of this tensor as axis d: nothing is moved.
  Tensor permuted(const std::vector<std::size_t>& order) const;

  /// Whether the file has the elements in C order: if not, small pieces take more time.
  bool in_c_order() const { return contiguous_; }

 private:
  template <class T>
  void read_as(std::int64_t first, std::int64_t count, T* out) const;

  TensorInfo info_;
  ByteSourcePtr bytes_;
  TensorLayout layout_;
  bool contiguous_ = false;
};

/// A tensor in memory, to be written: elements in C order, of type `dtype`, owned by the caller.
struct TensorData {
  TensorInfo info;
  const void* data = nullptr;
};

/// TensorData over an array of a C++ type: tensor_data("w", {2, 3}, weights.data()).
template <class T>
TensorData tensor_data(std::string name, Shape shape, const T* data) {
  return {{std::move(name), dtype_of<T>(), std::move(shape)}, data};
}

}  // namespace synergraph
#pragma GCC visibility pop
