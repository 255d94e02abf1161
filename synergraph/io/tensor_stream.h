#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "synergraph/io/atomic_file.h"
#include "synergraph/io/tensor.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A tensor to be written that need not be in memory. The writer fetches the elements piece by
/// piece.
struct TensorStream {
  TensorInfo info;
  /// Stores elements [first, first + count), in C order and of type info.dtype, in `out`. `out` is
  /// aligned for these elements.
  std::function<void(std::int64_t first, std::int64_t count, void* out)> read;
  /// The number of bytes that the writer fetches at once.
  std::int64_t piece_bytes = std::int64_t{1} << 20U;
};

/// A stream of a tensor in a file, unconverted. A tensor in another order than C order is fetched
/// in larger pieces, because each piece passes over the file.
TensorStream stream_of(const Tensor& tensor);

/// Streams of tensors in memory. The tensors must stay in memory until they are written.
std::vector<TensorStream> streams_of(std::span<const TensorData> tensors);

/// Reads the bytes of a stream from beginning to end.
class StreamReader {
 public:
  explicit StreamReader(const TensorStream& stream);

  /// Returns the next piece, which stays valid until the next call. Returns an empty piece at the
  /// end.
  std::span<const std::byte> next();

 private:
  const TensorStream& stream_;
  std::int64_t piece_;  // elements
  std::int64_t done_ = 0;
  std::vector<std::byte> buffer_;
};

/// Appends a whole stream to a file.
void write_stream(AtomicFile& file, const TensorStream& stream);

}  // namespace synergraph
#pragma GCC visibility pop
