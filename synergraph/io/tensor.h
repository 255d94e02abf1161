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

/// A tensor in a file. A Tensor is cheap to copy and reads on demand; it keeps no elements in
/// memory. Read a tensor larger than memory in slabs.
class Tensor {
 public:
  /// Throws InputError if an element lies outside the bytes.
  Tensor(TensorInfo info, ByteSourcePtr bytes, TensorLayout layout);

  const TensorInfo& info() const { return info_; }
  const std::string& name() const { return info_.name; }
  const Shape& shape() const { return info_.shape; }

  /// The beginning of every message about this tensor: "FILE: tensor 'NAME'".
  std::string where() const;

  /// Reads and converts elements [first, first + count), in C order of the logical shape. Reading
  /// integers requires a tensor of integers or bool. Several threads may read at once.
  void read(std::int64_t first, std::int64_t count, double* out) const;
  void read(std::int64_t first, std::int64_t count, float* out) const;
  void read(std::int64_t first, std::int64_t count, std::int64_t* out) const;

  /// Reads elements [first, first + count) in the tensor's own type, bit for bit; a bool is 0 or 1.
  /// `out` must be aligned for this type.
  void read_elements(std::int64_t first, std::int64_t count, void* out) const;

  /// Reads the whole tensor. T is double, float or std::int64_t.
  template <class T>
  std::vector<T> values() const {
    std::vector<T> all(static_cast<std::size_t>(info_.elements()));
    read(0, info_.elements(), all.data());
    return all;
  }

  /// Returns a view in which axis d is axis order[d] of this tensor. The call moves no elements.
  Tensor permuted(const std::vector<std::size_t>& order) const;

  /// Returns whether the file stores the elements in C order. In another order, small reads take
  /// more time.
  bool in_c_order() const { return contiguous_; }

  /// Returns whether the file is compressed: elements are read in the order of the file only.
  bool compressed() const { return !bytes_->reads_anywhere(); }

 private:
  template <class T>
  void read_as(std::int64_t first, std::int64_t count, T* out) const;

  TensorInfo info_;
  ByteSourcePtr bytes_;
  TensorLayout layout_;
  bool contiguous_ = false;
};

/// A tensor in memory, for writing. The caller owns the elements, which have type `dtype` and C
/// order.
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
