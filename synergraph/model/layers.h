#pragma once

#include <cstdint>

#include "synergraph/model/sequence_shape.h"

namespace synergraph {

/// The layers of the model other than linear maps and attention, for one sequence. Activations are
/// (features x stride); see SequenceShape.

/// Added to the mean square under the root of every RMSNorm.
inline constexpr float kNormEpsilon = 0x1.0p-23F;

/// x[c][p] = tokens_embedding[token p][c] + position_embedding[p][c]; zero in the padding.
/// Embeddings lie `row` floats apart. scratch: (length x width).
void embed(const SequenceShape& shape, const std::int32_t* tokens, const float* token_embedding,
           const float* position_embedding, std::ptrdiff_t row, float* scratch, float* x);

/// r[p] = 1 / sqrt(mean of squares of position p + epsilon).
void inverse_rms(const SequenceShape& shape, const float* x, float* r);

/// y[c][p] = gain[c] x[c][p] r[p], with the r of inverse_rms.
void rms_norm(const SequenceShape& shape, const float* x, const float* gain, float* r, float* y);

/// sum = x + y, entry by entry, with dropout on y (mask null: none).
void add_residual(const SequenceShape& shape, const float* x, const float* y,
                  const std::uint8_t* mask, float scale, float* sum);

/// What the model answered on one sequence.
struct SequenceLoss {
  double loss = 0.0;  ///< sum over positions of -log probability of the target
  int correct = 0;    ///< positions whose largest logit (the first, if several) is the target
};

/// Cross-entropy of logits (vocabulary x stride) against targets. The logits become the gradient,
/// (softmax - one-hot) * gradient_scale, zero in the padding; gradient_scale 0 leaves them as they
/// are.
SequenceLoss cross_entropy(const SequenceShape& shape, int vocabulary, const std::int32_t* targets,
                           float gradient_scale, float* logits);

}  // namespace synergraph
