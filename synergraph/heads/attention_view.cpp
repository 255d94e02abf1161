#include "synergraph/heads/attention_view.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/graph/feedforward_graph.h"

namespace synergraph {
namespace {

/// Block [rows][keys] in double precision, from its first element on.
template <class Stored, class Decode>
void read_block(const std::byte* from, const AttentionStrides& strides, std::int64_t rows,
                std::int64_t keys, double* into, Decode decode) {
  const auto element = [&](std::int64_t row, std::ptrdiff_t offset) {
    Stored stored;
    std::memcpy(&stored, from + row * strides.query + offset, sizeof stored);
    return static_cast<double>(decode(stored));
  };
  constexpr auto kSize = static_cast<std::ptrdiff_t>(sizeof(Stored));
  if (strides.key == kSize) {  // vectorised
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t key = 0; key < keys; ++key)
        into[row * keys + key] = element(row, key * kSize);
  } else {  // rows may lie side by side: all of them, key by key
    for (std::int64_t key = 0; key < keys; ++key)
      for (std::int64_t row = 0; row < rows; ++row)
        into[row * keys + key] = element(row, key * strides.key);
  }
}

/// An axis, for checks.
struct Axis {
  const char* name;
  std::int64_t extent, limit;
  std::ptrdiff_t stride;
};

}  // namespace

AttentionView attention_view(const void* data, FloatType type, std::int64_t samples,
                             std::int64_t heads, std::int64_t tokens) {
  const auto size = static_cast<std::ptrdiff_t>(item_size(type));
  // What overflows is too far for any memory: check_view() refuses it.
  const auto times = [](std::ptrdiff_t a, std::int64_t b) {
    std::ptrdiff_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::ptrdiff_t>::max()
                                                  : product;
  };
  const std::ptrdiff_t row = times(size, tokens);
  const std::ptrdiff_t matrix = times(row, tokens);
  return {data, type, samples, heads, tokens, {times(matrix, heads), matrix, row, size}};
}

void check_view(const AttentionView& view) {
  if (name_of(view.type).empty())
    throw InputError(
        "attention: unknown element type, expected float16, bfloat16, float32 or float64");
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() / 2;
  const auto size = static_cast<std::ptrdiff_t>(item_size(view.type));
  std::ptrdiff_t reach = size;
  const std::array axes = {Axis{"samples", view.samples, kMost, view.strides.sample},
                           Axis{"heads", view.heads, kMost, view.strides.head},
                           Axis{"queries", view.tokens, kMaxTokens, view.strides.query},
                           Axis{"keys", view.tokens, kMaxTokens, view.strides.key}};
  for (const Axis& axis : axes)
    if (axis.extent < 1 || axis.extent > axis.limit)
      throw InputError(
          fmt::format("attention: {} {}, expected 1 to {}", axis.extent, axis.name, axis.limit));
  for (const Axis& axis : axes) {
    if (axis.stride % size != 0)
      throw InputError(
          fmt::format("attention: the stride of its {}, {} bytes, is not a multiple of {}'s {}",
                      axis.name, axis.stride, name_of(view.type), size));
    std::ptrdiff_t last = 0;
    if (axis.stride == std::numeric_limits<std::ptrdiff_t>::min() ||
        __builtin_mul_overflow(axis.stride < 0 ? -axis.stride : axis.stride, axis.extent - 1,
                               &last) ||
        __builtin_add_overflow(reach, last, &reach))
      throw InputError(fmt::format("attention: {} {} that are {} bytes apart do not fit the memory",
                                   axis.extent, axis.name, axis.stride));
  }
  if (view.data == nullptr) throw InputError("attention: there is no data");
}

void read_rows(const AttentionView& view, std::int64_t sample, std::int64_t head,
               std::int64_t first, std::int64_t count, double* into) {
  const AttentionStrides& strides = view.strides;
  const std::byte* from = static_cast<const std::byte*>(view.data) + sample * strides.sample +
                          head * strides.head + first * strides.query;
  const auto read = [&]<class Stored>(Stored, auto decode) {
    read_block<Stored>(from, strides, count, view.tokens, into, decode);
  };
  switch (view.type) {
    case FloatType::kFloat16:
      return read(std::uint16_t{}, [](std::uint16_t bits) { return half_to_float(bits); });
    case FloatType::kBFloat16:
      return read(std::uint16_t{}, [](std::uint16_t bits) { return bfloat_to_float(bits); });
    case FloatType::kFloat32:
      return read(float{}, [](float value) { return value; });
    case FloatType::kFloat64:
      return read(double{}, [](double value) { return value; });
  }
}

}  // namespace synergraph
