#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "synergraph/device/cuda/large_layout.h"

// How kernels read entries of a lower triangular matrix.

namespace synergraph::cuda {

__device__ inline double number(double x) {
  return x;
}
__device__ inline double number(float x) {
  return x;
}
__device__ inline double number(__half x) {
  return __half2float(x);
}
__device__ inline double number(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

/// Four consecutive elements.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T x[4];
};
template <>
struct alignas(16) Four<double> {
  double x[4];
};

/// Elements j .. j + 3 of a row; `aligned`: they lie on a boundary of four elements.
template <class T>
__device__ void load_four(const T* row, int j, bool aligned, double (&to)[4]) {
  if (aligned) {
    const Four<T> four = *reinterpret_cast<const Four<T>*>(row + j);
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = number(four.x[k]);
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = number(row[j + k]);
  }
}

/// Row i, such that element j is column j of the matrix.
template <class T>
__device__ const T* row_of(const Entries& entries, int i, int first) {
  const T* data = static_cast<const T*>(entries.data);
  switch (entries.held) {
    case Held::kOneStrip:
      return data + (i - first) * entries.stride - first;
    case Held::kRows:
      return data + (i - first) * entries.stride;
    default:
      return data + i * entries.stride;
  }
}

template <class T>
__device__ bool in_fours(const Entries& entries) {
  return entries.stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(entries.data) %
                                            (sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) ==
                                        0;
}

__device__ inline double scale_of(const Entries& entries, int i) {
  return entries.row_scale == nullptr ? 1.0 : entries.row_scale[i];
}

/// What the published walk leaves of entry (i, j); without kCut all of it.
template <bool kCut>
__device__ double left_of(const Entries& entries, int i, int j, double entry) {
  if (!kCut) return entry;
  const int cut = entries.cut[j];
  return i < cut ? entry : i == cut ? entries.part[j] : 0.0;
}

}  // namespace synergraph::cuda
