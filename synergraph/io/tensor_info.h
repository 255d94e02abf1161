#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/io/dtype.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Extents, outermost first. Empty for a scalar.
using Shape = std::vector<std::int64_t>;

/// Tensors with more dimensions than this are refused.
inline constexpr std::size_t kMaxRank = 64;

/// The product of the extents; nothing when an extent is negative, when there are more than
/// kMaxRank, or when the extents that are not zero have a product above 2^63 / 8 (so that sizes in
/// bytes never overflow either).
std::optional<std::int64_t> element_count(const Shape& shape);

/// "(2, 3)", "(2,)" or "()", as NumPy prints a shape.
std::string to_string(const Shape& shape);

/// What a tensor is: its name in the file (empty in a .npy), element type and shape.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;

  std::int64_t elements() const { return element_count(shape).value_or(0); }
  std::int64_t bytes() const { return elements() * static_cast<std::int64_t>(item_size(dtype)); }
};

/// Where a tensor's elements lie in its bytes: element (i, j, ...) is item
/// `first + i * strides[0] + j * strides[1] + ...` after the byte `offset`.
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
