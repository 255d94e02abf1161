#include "synergraph/io/tensor_stream.h"

#include <algorithm>
#include <cstring>

namespace synergraph {

TensorStream stream_of(const Tensor& tensor) {
  TensorStream stream{tensor.info(), [tensor](std::int64_t first, std::int64_t count, void* out) {
                        tensor.read_elements(first, count, out);
                      }};
  if (!tensor.in_c_order()) stream.piece_bytes = std::int64_t{1} << 26U;
  return stream;
}

std::vector<TensorStream> streams_of(std::span<const TensorData> tensors) {
  std::vector<TensorStream> streams;
  streams.reserve(tensors.size());
  for (const TensorData& tensor : tensors) {
    const auto read = [data = static_cast<const std::byte*>(tensor.data),
                       item = item_size(tensor.info.dtype)](std::int64_t first, std::int64_t count,
                                                            void* out) {
      std::memcpy(out, data + static_cast<std::size_t>(first) * item,
                  static_cast<std::size_t>(count) * item);
    };
    streams.push_back({tensor.info, read});
  }
  return streams;
}

StreamReader::StreamReader(const TensorStream& stream) : stream_(stream) {
  const auto item = static_cast<std::int64_t>(item_size(stream.info.dtype));
  piece_ = std::min(stream.info.elements(), std::max(stream.piece_bytes / item, std::int64_t{1}));
  buffer_.resize(static_cast<std::size_t>(piece_ * item));
}

std::span<const std::byte> StreamReader::next() {
  const std::int64_t count = std::min(piece_, stream_.info.elements() - done_);
  if (count == 0) return {};
  stream_.read(done_, count, buffer_.data());
  done_ += count;
  return std::span(buffer_).first(static_cast<std::size_t>(count) * item_size(stream_.info.dtype));
}

void write_stream(AtomicFile& file, const TensorStream& stream) {
  StreamReader pieces(stream);
  for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    file.write(piece.data(), piece.size());
  }
}

}  // namespace synergraph
