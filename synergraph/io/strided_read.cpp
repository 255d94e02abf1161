#include "synergraph/io/strided_read.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace synergraph::detail {
namespace {

/// One loop of a box: how many elements, and how far apart they are in the file and in the output.
struct Loop {
  std::int64_t extent;
  std::int64_t in_stride;
  std::int64_t out_stride;
};

/// The order of the file: largest step outermost; at least one loop.
void put_in_file_order(std::vector<Loop>& loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.extent == 1; });
  if (loops.empty()) loops.push_back({1, 1, 1});
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.in_stride > b.in_stride; });
}

/// A sliding window over the bytes. Small steps through the file are served from one large read.
class Window {
 public:
  explicit Window(const ByteSource& bytes) : bytes_(bytes) {}

  /// Before each box: how much to read ahead, and the byte no box element reaches.
  void prepare(std::size_t ahead, std::uint64_t limit) {
    ahead_ = ahead;
    limit_ = limit;
  }

  /// `size` bytes at `offset`, valid until the next call. What the window already holds is not read
  /// again, so a source that can only go forward is never asked to go back within a pass.
  const std::byte* fetch(std::uint64_t offset, std::size_t size) {
    const std::uint64_t end = begin_ + held_;
    if (offset >= begin_ && offset + size <= end) return buffer_.data() + (offset - begin_);
    std::size_t kept = 0;
    if (offset >= begin_ && offset < end) {
      kept = static_cast<std::size_t>(end - offset);
      std::memmove(buffer_.data(), buffer_.data() + (offset - begin_), kept);
    }
    const std::size_t wanted =
        std::max(size, static_cast<std::size_t>(std::min<std::uint64_t>(ahead_, limit_ - offset)));
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    held_ = 0;
    bytes_.read(offset + kept, buffer_.data() + kept, wanted - kept);
    begin_ = offset;
    held_ = wanted;
    return buffer_.data();
  }

 private:
  const ByteSource& bytes_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;
  std::size_t held_ = 0;
  std::size_t ahead_ = 0;
  std::uint64_t limit_ = 0;
};

template <class T>
class StridedReader {
 public:
  StridedReader(const ByteSource& bytes, DType dtype, const TensorLayout& layout)
      : dtype_(dtype),
        item_(item_size(dtype)),
        offset_(layout.offset),
        order_(layout.order),
        window_(bytes) {}

  /// Elements [first, first + count) of the sub-array with these extents and strides. The range is
  /// cut into boxes: a partial slice at either end, and the whole slices between them.
  void range(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
             std::int64_t base, std::int64_t first, std::int64_t count, T* out) {
    if (count == 0) return;
    if (extents.empty()) return box({}, base, out);
    std::int64_t inner = 1;
    for (const std::int64_t extent : extents.subspan(1)) inner *= extent;
    std::int64_t slice = first / inner;
    const auto part = [&](std::int64_t from, std::int64_t size) {
      range(extents.subspan(1), strides.subspan(1), base + slice * strides[0], from, size, out);
      out += size;
      count -= size;
      ++slice;
    };
    const std::int64_t from = first % inner;
    if (from > 0 || count < inner) part(from, std::min(count, inner - from));
    if (const std::int64_t whole = count / inner; whole > 0) {
      std::vector<Loop> loops{{whole, strides[0], inner}};
      std::int64_t out_stride = inner;
      for (std::size_t d = 1; d < extents.size(); ++d) {
        out_stride /= extents[d];
        loops.push_back({extents[d], strides[d], out_stride});
      }
      box(std::move(loops), base + slice * strides[0], out);
      out += whole * inner;
      count -= whole * inner;
      slice += whole;
    }
    if (count > 0) part(0, count);
  }

  bool fits() const { return fits_; }

 private:
  static constexpr std::size_t kBlock = 4096;                   ///< elements converted at once
  static constexpr std::size_t kAhead = std::size_t{1} << 18U;  ///< bytes
  static constexpr std::int64_t kDense = 4096;  ///< read through gaps up to this many bytes

  void box(std::vector<Loop> loops, std::int64_t base, T* out) {
    put_in_file_order(loops);
    std::int64_t last = base;
    for (const Loop& loop : loops) last += (loop.extent - 1) * loop.in_stride;
    const Loop run = loops.back();
    loops.pop_back();
    const std::int64_t step =
        run.in_stride > 1 || loops.empty() ? run.in_stride : loops.back().in_stride;
    const bool dense = step * static_cast<std::int64_t>(item_) <= kDense;
    window_.prepare(dense ? kAhead : 0, byte_of(last + 1));

    std::vector<std::int64_t> index(loops.size(), 0);
    for (;;) {
      copy_run(run, base, out);
      std::size_t d = loops.size();
      for (; d > 0; --d) {
        const Loop& loop = loops[d - 1];
        base += loop.in_stride;
        out += loop.out_stride;
        if (++index[d - 1] < loop.extent) break;
        base -= loop.extent * loop.in_stride;
        out -= loop.extent * loop.out_stride;
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

  void copy_run(const Loop& run, std::int64_t base, T* out) {
    for (std::int64_t done = 0; done < run.extent;) {
      const std::size_t count = std::min(kBlock, static_cast<std::size_t>(run.extent - done));
      const std::byte* raw = gather(base + done * run.in_stride, run.in_stride, count);
      T* target = out + done * run.out_stride;
      if (run.out_stride == 1) {
        fits_ &= convert_elements(dtype_, order_, raw, count, target);
      } else {
        fits_ &= convert_elements(dtype_, order_, raw, count, converted_.data());
        for (std::size_t i = 0; i < count; ++i) {
          target[static_cast<std::int64_t>(i) * run.out_stride] = converted_[i];
        }
      }
      done += static_cast<std::int64_t>(count);
    }
  }

  const std::byte* gather(std::int64_t base, std::int64_t stride, std::size_t count) {
    if (stride == 1) return window_.fetch(byte_of(base), count * item_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* item =
          window_.fetch(byte_of(base + static_cast<std::int64_t>(i) * stride), item_);
      std::memcpy(gathered_.data() + i * item_, item, item_);
    }
    return gathered_.data();
  }

  std::uint64_t byte_of(std::int64_t element) const {
    return offset_ + static_cast<std::uint64_t>(element) * item_;
  }

  DType dtype_;
  std::size_t item_;
  std::uint64_t offset_;
  ByteOrder order_;
  Window window_;
  bool fits_ = true;
  std::array<std::byte, kBlock * 8> gathered_{};
  std::array<T, kBlock> converted_{};
};

}  // namespace

template <class T>
bool read_strided(const ByteSource& bytes, const TensorInfo& info, const TensorLayout& layout,
                  std::int64_t first, std::int64_t count, T* out) {
  const auto reader = std::make_unique<StridedReader<T>>(bytes, info.dtype, layout);
  reader->range(info.shape, layout.strides, layout.first, first, count, out);
  return reader->fits();
}

template bool read_strided<double>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                   std::int64_t, std::int64_t, double*);
template bool read_strided<float>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                  std::int64_t, std::int64_t, float*);
template bool read_strided<std::int64_t>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                         std::int64_t, std::int64_t, std::int64_t*);
template bool read_strided<std::uint8_t>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                         std::int64_t, std::int64_t, std::uint8_t*);
template bool read_strided<std::uint16_t>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                          std::int64_t, std::int64_t, std::uint16_t*);
template bool read_strided<std::uint32_t>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                          std::int64_t, std::int64_t, std::uint32_t*);
template bool read_strided<std::uint64_t>(const ByteSource&, const TensorInfo&, const TensorLayout&,
                                          std::int64_t, std::int64_t, std::uint64_t*);

}  // namespace synergraph::detail
