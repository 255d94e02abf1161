#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "synergraph/core/float_type.h"

namespace synergraph::cuda {

/// Calls a function template with the element type.
template <class Call>
void with_type(FloatType type, Call call) {
  switch (type) {
    case FloatType::kFloat16:
      return call(__half{});
    case FloatType::kBFloat16:
      return call(__nv_bfloat16{});
    case FloatType::kFloat32:
      return call(float{});
    case FloatType::kFloat64:
      return call(double{});
  }
}

/// The same of queries and keys, which are not float64.
template <class Call>
void with_short_type(FloatType type, Call call) {
  if (type == FloatType::kFloat16) return call(__half{});
  if (type == FloatType::kBFloat16) return call(__nv_bfloat16{});
  return call(float{});
}

/// Blocks of threads for `count` of something, `each` a block.
inline unsigned blocks(int count, int each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace synergraph::cuda
