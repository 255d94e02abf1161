#pragma once

#include <cstdint>

#include "synergraph/io/byte_source.h"
#include "synergraph/io/tensor_info.h"

namespace synergraph::detail {

/// Reads elements [first, first + count), in C order, of a tensor whose elements are not
/// contiguous. Reads in the order of the file, in bounded memory. Returns false if a value does not
/// fit T.
template <class T>
bool read_strided(const ByteSource& bytes, const TensorInfo& info, const TensorLayout& layout,
                  std::int64_t first, std::int64_t count, T* out);

}  // namespace synergraph::detail
