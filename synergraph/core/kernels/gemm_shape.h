#pragma once

#include <cstddef>

namespace synergraph {

/// C (rows x cols) = start + A B, single precision, row-major, for matrices that fit in cache.
/// Row i of C starts from source row i (when given) plus bias[i] (when given), else from zero.
///
/// Vectors run along the columns, so B and C must be readable and writable up to the next multiple
/// of 8 columns, or of 4 when cols is at most 4 (the padding of C is overwritten).
struct Gemm {
  int rows = 0;
  int cols = 0;
  int depth = 0;
  const float* a = nullptr;  ///< (rows x depth), or (depth x rows) when transposed
  std::ptrdiff_t a_stride = 0;
  bool a_transposed = false;
  const float* b = nullptr;  ///< (depth x cols)
  std::ptrdiff_t b_stride = 0;
  float* c = nullptr;  ///< (rows x cols)
  std::ptrdiff_t c_stride = 0;
  const float* source = nullptr;  ///< (rows x cols) with the stride of C; may be C itself
  const float* bias = nullptr;    ///< (rows)
  bool relu = false;              ///< negative results become zero
};

}  // namespace synergraph
