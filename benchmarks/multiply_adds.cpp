#include "benchmarks/multiply_adds.h"

#include "synergraph/core/kernels/simd.h"

double spend_multiply_adds() {
  using namespace synergraph::SYNERGRAPH_ISA;  // NOLINT: its vectors
  constexpr int kSums = 12;
  constexpr int kRounds = 1000;
  static Doubles sums[kSums];
  Doubles local[kSums];
  for (int k = 0; k < kSums; ++k) local[k] = sums[k];
  auto factor = splat<Doubles>(1.0 - 1e-9);
  pin(factor);
  for (int round = 0; round < kRounds; ++round)
    for (Doubles& sum : local) sum = sum * factor + factor;
  for (int k = 0; k < kSums; ++k) sums[k] = local[k];
  return static_cast<double>(kSums) * kDoubles * kRounds;
}
