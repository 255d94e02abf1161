#include "synergraph/core/kernels/simd.h"

// One step of the optimiser over a flat array of parameters. Parameters, both moments and the
// gradient are read once and the first three are written once. The loop does a few operations
// per 28 bytes, so memory bandwidth limits it.

namespace synergraph::SYNERGRAPH_ISA {

void add(const float* from, std::size_t count, float* to) {
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) to[k] += from[k];
}

void adam(const AdamFactors& factors, std::size_t count, const float* gradient, float* parameters,
          float* first_moment, float* second_moment) {
  const AdamFactors f = factors;
  const float* g = gradient;
  float* p = parameters;
  float* m = first_moment;
  float* v = second_moment;
#pragma omp simd
  for (std::size_t k = 0; k < count; ++k) {
    m[k] = f.beta1 * m[k] + f.rest1 * g[k];
    v[k] = f.beta2 * v[k] + f.rest2 * (g[k] * g[k]);
    p[k] -= f.rate * m[k] / (__builtin_sqrtf(v[k]) * f.root + f.epsilon);
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA
