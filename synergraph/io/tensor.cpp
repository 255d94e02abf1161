#include "synergraph/io/tensor.h"

#include <fmt/format.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/strided_read.h"

namespace synergraph {
namespace {

/// The position of the last element, counted in items; nothing on overflow or a negative stride.
std::optional<std::int64_t> last_item(const Shape& shape, const TensorLayout& layout) {
  std::int64_t last = layout.first;
  if (last < 0) return {};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t reach = 0;
    if (layout.strides[d] < 0) return {};
    if (__builtin_mul_overflow(shape[d] - 1, layout.strides[d], &reach)) return {};
    if (__builtin_add_overflow(last, reach, &last)) return {};
  }
  return last;
}

/// Whether C order is the order of the file; the strides of extents of one do not matter.
bool is_contiguous(const Shape& shape, const std::vector<std::int64_t>& strides) {
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

}  // namespace

Tensor::Tensor(TensorInfo info, ByteSourcePtr bytes, TensorLayout layout)
    : info_(std::move(info)), bytes_(std::move(bytes)), layout_(std::move(layout)) {
  if (!element_count(info_.shape)) {
    throw InputError(fmt::format("{}: the shape {} is too large", where(), to_string(shape())));
  }
  if (layout_.strides.size() != shape().size()) {
    throw InputError(fmt::format("{}: {} strides for {} dimensions", where(),
                                 layout_.strides.size(), shape().size()));
  }
  if (info_.elements() == 0) return;
  const std::optional<std::int64_t> last = last_item(shape(), layout_);
  const std::uint64_t size = bytes_->size();
  if (!last || layout_.offset > size ||
      static_cast<std::uint64_t>(*last) >= (size - layout_.offset) / item_size(info_.dtype)) {
    throw InputError(fmt::format("{}: its elements reach outside the file's data", where()));
  }
  contiguous_ = is_contiguous(shape(), layout_.strides);
}

std::string Tensor::where() const {
  if (name().empty()) return bytes_->name();
  return fmt::format("{}: tensor {}", bytes_->name(), quoted_text(name()));
}

Tensor Tensor::permuted(const std::vector<std::size_t>& order) const {
  Tensor copy = *this;
  for (std::size_t d = 0; d < order.size(); ++d) {
    copy.info_.shape[d] = shape()[order[d]];
    copy.layout_.strides[d] = layout_.strides[order[d]];
  }
  copy.contiguous_ = is_contiguous(copy.shape(), copy.layout_.strides);
  return copy;
}

template <class T>
void Tensor::read_as(std::int64_t first, std::int64_t count, T* out) const {
  if (first < 0 || count < 0 || first > info_.elements() || count > info_.elements() - first) {
    throw InputError(fmt::format("{}: {} elements from {} on were asked for, it has {}", where(),
                                 count, first, info_.elements()));
  }
  if (count == 0) return;
  bool fits = true;
  if (!contiguous_) {
    fits = detail::read_strided(*bytes_, info_, layout_, first, count, out);
  } else {
    const std::size_t item = item_size(info_.dtype);
    std::uint64_t offset =
        layout_.offset + static_cast<std::uint64_t>(layout_.first + first) * item;
    const bool same =
        info_.dtype == dtype_of<T>() || (std::is_unsigned_v<T> && info_.dtype != DType::kBool);
    if (same && layout_.order == ByteOrder::kLittle) {
      return bytes_->read(offset, out, static_cast<std::size_t>(count) * item);
    }
    constexpr std::int64_t kBlock = 32768;
    std::vector<std::byte> block(static_cast<std::size_t>(std::min(count, kBlock)) * item);
    for (std::int64_t done = 0; done < count; done += kBlock) {
      const auto part = static_cast<std::size_t>(std::min(count - done, kBlock));
      bytes_->read(offset, block.data(), part * item);
      fits &= convert_elements(info_.dtype, layout_.order, block.data(), part, out + done);
      offset += part * item;
    }
  }
  if (!fits) throw InputError(where() + ": an integer is above the largest int64");
}

void Tensor::read(std::int64_t first, std::int64_t count, double* out) const {
  read_as(first, count, out);
}

void Tensor::read(std::int64_t first, std::int64_t count, float* out) const {
  read_as(first, count, out);
}

void Tensor::read(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  if (!is_integer(info_.dtype)) {
    throw InputError(fmt::format("{}: expected integers, found {}", where(), name_of(info_.dtype)));
  }
  read_as(first, count, out);
}

void Tensor::read_elements(std::int64_t first, std::int64_t count, void* out) const {
  switch (item_size(info_.dtype)) {
    case 1:
      return read_as(first, count, static_cast<std::uint8_t*>(out));
    case 2:
      return read_as(first, count, static_cast<std::uint16_t*>(out));
    case 4:
      return read_as(first, count, static_cast<std::uint32_t*>(out));
    default:
      return read_as(first, count, static_cast<std::uint64_t*>(out));
  }
}

}  // namespace synergraph
