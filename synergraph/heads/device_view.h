#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "synergraph/core/float_type.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Where work on a device lies: its number and the stream of the caller. Work on the device starts
/// after everything that was queued in the stream, and is finished when a call returns.
struct DevicePlace {
  int device = 0;
  void* stream = nullptr;  ///< a cudaStream_t; null: the default stream
};

/// Attention given as queries and keys: row i of a head is the softmax over the allowed keys j <= i
/// of softcap(scale * q_i . k_j).
struct QueryKeyView {
  const void* queries =
      nullptr;                 ///< the element with all indices 0, (samples, heads, tokens, width)
  const void* keys = nullptr;  ///< (samples, key_heads, tokens, width)
  FloatType type = FloatType::kBFloat16;
  std::int64_t samples = 0;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;  ///< divides heads: each serves heads / key_heads heads in a row
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  /// Bytes from one sample, head and token to the next. The features of a token lie side by side.
  struct Strides {
    std::ptrdiff_t sample = 0;
    std::ptrdiff_t head = 0;
    std::ptrdiff_t token = 0;
  };
  Strides query_strides = {};
  Strides key_strides = {};
  double scale = 1.0;
  double softcap = 0.0;                ///< 0: none; else cap * tanh(score / cap)
  std::int64_t window = 0;             ///< 0: none; else only keys j > i - window
  const float* sink_logits = nullptr;  ///< one for each head, beside the queries; null: none
};

/// InputError unless there are queries and keys of a known type, every extent is positive, tokens
/// are at most kMaxTokens, key heads divide heads, strides are whole elements, and scale, soft cap
/// and window are numbers that make sense.
void check_view(const QueryKeyView& view);

/// Rows of the probabilities of a sample, for queries and keys in the CPU's memory, from any
/// thread: the numbers of read_probabilities(). The keys of one head at a time are kept in double
/// precision.
class ProbabilityRows {
 public:
  ProbabilityRows(const QueryKeyView& view, std::int64_t sample);
  ~ProbabilityRows();

  /// Writes entries 0 .. i of row i.
  void read(std::int64_t head, std::int64_t i, double* into) const;
  double held_bytes() const;

 private:
  struct Keys;
  QueryKeyView view_;
  std::int64_t sample_;
  std::unique_ptr<Keys> keys_;
};

/// The probabilities of one head of a sample, for queries and keys in the CPU's memory: tokens x
/// tokens numbers, in double precision from the stored queries and keys on.
void read_probabilities(const QueryKeyView& view, std::int64_t sample, std::int64_t head,
                        double* into);

}  // namespace synergraph
#pragma GCC visibility pop
