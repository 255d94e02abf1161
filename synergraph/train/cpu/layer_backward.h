#pragma once

#include <cstdint>

#include "synergraph/model/layers.h"

namespace synergraph {

/// Whether a gradient replaces what is in its buffer or is added to it.
enum class Into { kReplace, kAdd };

/// Gradients of rms_norm: dx += the gradient through y, dgain gets sum_p dy[c][p] x[c][p] r[p].
void rms_norm_backward(const SequenceShape& shape, const float* x, const float* gain,
                       const float* inverse_rms, const float* dy, float* dx, float* dgain,
                       Into into);

/// dbias[r] gets the sum of row r of dy (rows x stride), whose padding is zero.
void bias_backward(int rows, const SequenceShape& shape, const float* dy, float* dbias, Into into);

/// dh (rows x stride) becomes 0 where the hidden unit was not active; then dbias gets its sums.
void relu_backward(int rows, const SequenceShape& shape, const float* hidden, float* dh,
                   float* dbias, Into into);

/// dy = dx * scale where kept, 0 where dropped; dbias gets its sums.
void dropout_backward(const SequenceShape& shape, const float* dx, const std::uint8_t* mask,
                      float scale, float* dy, float* dbias, Into into);

/// Adds dx to the embeddings' gradients, which lie `row` floats apart; positions according to
/// `into`. scratch: (length x width).
void embed_backward(const SequenceShape& shape, const std::int32_t* tokens, const float* dx,
                    float* scratch, float* dtoken, float* dposition, std::ptrdiff_t row, Into into);

}  // namespace synergraph
