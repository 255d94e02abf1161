#pragma once

#include <cstddef>
#include <cstdint>

#include "synergraph/core/float_type.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The largest number of tokens that can be measured.
inline constexpr int kMaxTokens = 131072;

/// Bytes from one element to the next along each axis, as in NumPy; strides of DLPack and PyTorch
/// count elements, so multiply them by item_size(). Negative ones go backwards; with zero the next
/// one is the same: one matrix can stand for every sample.
struct AttentionStrides {
  std::ptrdiff_t sample = 0;
  std::ptrdiff_t head = 0;
  std::ptrdiff_t query = 0;
  std::ptrdiff_t key = 0;
};

/// Causal attention A[sample][head][query][key] in memory that someone else owns.
struct AttentionView {
  const void* data = nullptr;  ///< the element with all indices 0, aligned or not
  FloatType type = FloatType::kFloat32;
  std::int64_t samples = 0;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;  ///< n: queries, and keys
  AttentionStrides strides = {};
};

/// A sequence to measure: tokens begin .. end - 1 of a sample, the last of them being the sink. So
/// padding on either side is left out, and a sample with several sinks is several sequences.
struct TokenSpan {
  std::int64_t sample = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// An array [samples][heads][tokens][tokens] without gaps.
AttentionView attention_view(const void* data, FloatType type, std::int64_t samples,
                             std::int64_t heads, std::int64_t tokens);
inline AttentionView attention_view(const float* data, std::int64_t samples, std::int64_t heads,
                                    std::int64_t tokens) {
  return attention_view(data, FloatType::kFloat32, samples, heads, tokens);
}
inline AttentionView attention_view(const double* data, std::int64_t samples, std::int64_t heads,
                                    std::int64_t tokens) {
  return attention_view(data, FloatType::kFloat64, samples, heads, tokens);
}

/// InputError unless there is data of a known type, every extent is positive, tokens are at most
/// kMaxTokens, and strides are whole elements whose offsets can be computed.
void check_view(const AttentionView& view);

/// `count` rows of a head in double precision, from row `first` on: view.tokens numbers each.
void read_rows(const AttentionView& view, std::int64_t sample, std::int64_t head,
               std::int64_t first, std::int64_t count, double* into);

}  // namespace synergraph
#pragma GCC visibility pop
