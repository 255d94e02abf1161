#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/io/dtype.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The extents of a tensor, outermost first. A scalar has none.
using Shape = std::vector<std::int64_t>;

/// The largest number of dimensions. Readers refuse tensors with more dimensions.
inline constexpr std::size_t kMaxRank = 64;

/// Returns the product of the extents. Returns nothing if an extent is negative or if there are
/// more than kMaxRank extents. Returns nothing also if the product of the nonzero extents exceeds
/// 2^63 / 8, so that sizes in bytes never overflow.
std::optional<std::int64_t> element_count(const Shape& shape);

/// "(2, 3)", "(2,)" or "()", as NumPy prints a shape.
std::string to_string(const Shape& shape);

/// The name of a tensor in its file (empty in a .npy), its element type and its shape.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;

  std::int64_t elements() const { return element_count(shape).value_or(0); }
  std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(item_size(dtype)); }
};

/// The location of a tensor's elements in its bytes. Element (i, j, ...) is item `first + i *
/// strides[0] + j * strides[1] + ...` after the byte `offset`.
struct TensorLayout {
  std::uint64_t offset = 0;
  ByteOrder order = ByteOrder::kLittle;
  std::int64_t first = 0;
  std::vector<std::int64_t> strides;
};

/// The strides, in elements, of an array in C order (last index fastest) or Fortran order.
std::vector<std::int64_t> c_strides(const Shape& shape);
std::vector<std::int64_t> fortran_strides(const Shape& shape);

}  // namespace synergraph
#pragma GCC visibility pop
