#include "synergraph/io/tensor_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace synergraph {

std::optional<std::int64_t> element_count(const Shape& shape) {
  constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 8;
  if (shape.size() > kMaxRank) return {};
  std::int64_t product = 1;  // of the extents that are not zero
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return {};
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product) || product > kMaxElements) {
      return {};
    }
  }
  return empty ? 0 : product;
}

std::string to_string(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::vector<std::int64_t> c_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

std::vector<std::int64_t> fortran_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  return strides;
}

}  // namespace synergraph
