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

/// A tensor to be written that need not be in memory: its elements are fetched piece by piece while
/// the file is written.
struct TensorStream {
  TensorInfo info;
  /// Puts elements [first, first + count), in C order and of type info.dtype, into `out`, which is
  /// aligned for them.
  std::function<void(std::int64_t first, std::int64_t count, void* out)> read;
  /// How much is fetched at once.
  std::int64_t piece_bytes = std::int64_t{1} << 20U;
};

/// A tensor of a file, as it is there. One that is not in C order is fetched in larger pieces, each
/// of which passes over the file.
TensorStream stream_of(const Tensor& tensor);

/// Tensors in memory, which must stay there until they are written.
std::vector<TensorStream> streams_of(std::span<const TensorData> tensors);

/// The bytes of a stream, from begin to end.
class StreamReader {
 public:
  explicit StreamReader(const TensorStream& stream);

  /// The next piece, valid until the next call; empty at the end.
  std::span<const std::byte> next();

 private:
  const TensorStream& stream_;
  std::int64_t piece_;  // elements
  std::int64_t done_ = 0;
  std::vector<std::byte> buffer_;
};

/// Appends all of a stream to a file.
void write_stream(AtomicFile& file, const TensorStream& stream);

}  // namespace synergraph
#pragma GCC visibility pop
