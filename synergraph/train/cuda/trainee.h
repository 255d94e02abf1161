#pragma once

#include "synergraph/train/cuda/layout.h"

namespace synergraph::cuda {

/// Adam's factors at a step.
struct Factors {
  float beta1, beta2, rest1, rest2, rate, root, epsilon;
};

/// A model in a call of run(), as the kernels see it: where its numbers are, and how far it is.
struct Trainee {
  float* parameters;  ///< see Layout; so are the next five
  float* operands;    ///< the parameters with every matrix rounded as products take it
  float* transposed;  ///< the same with every matrix transposed
  float* first_moment;
  float* second_moment;
  float* gradient;              ///< of the last step, or null: nobody wants it
  const std::int32_t* inputs;   ///< (sequences x length)
  const std::int32_t* targets;  ///< negative where a position does not count
  const std::int32_t* rows;     ///< the sequences in the order in which they are taken
  int row_count;
  int round;                ///< steps done in this call, less one before the first
  std::uint64_t seed;       ///< of the dropout masks
  std::uint32_t step;       ///< steps done before this one
  Factors factors;          ///< of this step
  std::int32_t* broken;     ///< not zero: some parameter is beyond what products take; or null
  std::int32_t was_broken;  ///< before this step
  /// Targets of a sequence that count, on average: see counted_per_sequence().
  double sequence_positions;

  /// Sequences of the current step, none when there is no step left.
  SYNERGRAPH_HD int count(int batch) const {
    const int left = row_count - round * batch;
    return left < batch ? (left < 0 ? 0 : left) : batch;
  }
  /// The sequence that is at `place` in the current step.
  SYNERGRAPH_HD int sequence(int batch, int place) const { return rows[round * batch + place]; }
};

}  // namespace synergraph::cuda
