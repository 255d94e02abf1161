#pragma once

#include "synergraph/device/cuda/large_layout.h"

// Products on FP64 tensor cores of tiles in shared memory.

namespace synergraph::cuda {

inline constexpr int kPitch = kBlock + 4;  // doubles: fragments of a warp lie in different banks

/// c += a b for a 16 x 8 tile of a and an 8 x 8 tile of b. Lane 4 g + t has a(g, t), a(g + 8, t),
/// a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g); c(g, 2t), c(g, 2t + 1), c(g + 8, 2t),
/// c(g + 8, 2t + 1).
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  for (int k = 0; k < 2; ++k)
    for (int half = 0; half < 2; ++half)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * k + half]), "d"(b[k]));
#endif
}

/// c += (tile of a)^T (tile of x), or (tile of a) (tile of x) with kRows; `depth` rows of x in
/// shared memory, kPitch doubles apart. A warp has kM x 16 rows of the result from `m0` on, and kN
/// x 8 columns from `n0` on.
template <bool kRows = false, int kM, int kN>
__device__ void multiply_tiles(double (&c)[kM][kN][4], const double* a, const double* x, int depth,
                               int m0, int n0) {
  const int g = (threadIdx.x % 32) / 4;
  const int t = threadIdx.x % 4;
  for (int k = 0; k < depth; k += 8) {
    double left[kM][4];
    double right[kN][2];
    // Entry (row m, place k) of a.
    const auto at = [&](int m, int place) {
      return kRows ? a[m * kPitch + place] : a[place * kPitch + m];
    };
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      left[m][0] = at(m0 + 16 * m + g, k + t);
      left[m][1] = at(m0 + 16 * m + g + 8, k + t);
      left[m][2] = at(m0 + 16 * m + g, k + t + 4);
      left[m][3] = at(m0 + 16 * m + g + 8, k + t + 4);
    }
    const double* from = x + (k + t) * kPitch + n0 + g;
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      right[n][0] = from[8 * n];
      right[n][1] = from[8 * n + 4 * kPitch];
    }
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n) multiply_add(c[m][n], left[m], right[n]);
  }
}

/// Calls visit(row, column, value) for every number of a warp's part of a product.
template <int kM, int kN, class Visit>
__device__ void visit_product(double (&c)[kM][kN][4], int m0, int n0, Visit visit) {
  const int g = (threadIdx.x % 32) / 4;
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        visit(m0 + 16 * m + g + 8 * (k / 2), n0 + 8 * n + 2 * t + k % 2, c[m][n][k]);
}

}  // namespace synergraph::cuda
