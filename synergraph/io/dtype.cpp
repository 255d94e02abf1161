#include "synergraph/io/dtype.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace synergraph {
namespace {

static_assert(std::endian::native == std::endian::little, "big-endian machines are not supported");

template <bool kSwap, class Bits>
Bits load(const std::byte* in) {
  Bits bits;
  std::memcpy(&bits, in, sizeof bits);
  if constexpr (kSwap && sizeof(Bits) == 2) bits = static_cast<Bits>(__builtin_bswap16(bits));
  if constexpr (kSwap && sizeof(Bits) == 4) bits = __builtin_bswap32(bits);
  if constexpr (kSwap && sizeof(Bits) == 8) bits = __builtin_bswap64(bits);
  return bits;
}

template <bool kSwap, class Bits, class T, class Decode>
void convert_loop(const std::byte* in, std::size_t count, T* out, Decode decode) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = decode(load<kSwap, Bits>(in + i * sizeof(Bits)));
    out[i] = static_cast<T>(value);  // NOLINT(bugprone-signed-char-misuse): int8 keeps its sign
  }
}

template <class Bits, class T, class Decode>
bool convert_with(ByteOrder order, const std::byte* in, std::size_t count, T* out, Decode decode) {
  if (order == ByteOrder::kBig) {
    convert_loop<true, Bits>(in, count, out, decode);
  } else {
    convert_loop<false, Bits>(in, count, out, decode);
  }
  return true;
}

template <class Value, class T>
bool convert_integers(ByteOrder order, const std::byte* in, std::size_t count, T* out) {
  using Bits = std::make_unsigned_t<Value>;
  convert_with<Bits>(order, in, count, out, [](Bits bits) { return static_cast<Value>(bits); });
  if constexpr (std::is_same_v<Value, std::uint64_t> && std::is_same_v<T, std::int64_t>) {
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i] < 0) return false;
    }
  }
  return true;
}

/// Conversions that are the identity on this machine are a copy.
template <class T>
bool copy_elements(const std::byte* in, std::size_t count, T* out) {
  std::memcpy(out, in, count * sizeof(T));
  return true;
}

}  // namespace

std::optional<FloatType> float_type(DType dtype) {
  if (is_integer(dtype)) return std::nullopt;
  return static_cast<FloatType>(static_cast<int>(dtype) - static_cast<int>(DType::kFloat16));
}

std::size_t item_size(DType dtype) {
  if (const auto type = float_type(dtype)) return item_size(*type);
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8:
      return 1;
    case DType::kUInt16:
    case DType::kInt16:
      return 2;
    case DType::kUInt32:
    case DType::kInt32:
      return 4;
    default:
      return 8;
  }
}

bool is_integer(DType dtype) {
  return dtype < DType::kFloat16;
}

template <class T>
bool convert_elements(DType dtype, ByteOrder order, const std::byte* in, std::size_t count,
                      T* out) {
  if (count == 0) return true;
  if (dtype == dtype_of<T>() && order == ByteOrder::kLittle) return copy_elements(in, count, out);
  if constexpr (std::is_unsigned_v<T>) {
    if (dtype != DType::kBool) {
      return item_size(dtype) == sizeof(T) &&
             convert_with<T>(order, in, count, out, [](T bits) { return bits; });
    }
  }
  switch (dtype) {
    case DType::kBool:
      return convert_with<std::uint8_t>(order, in, count, out,
                                        [](std::uint8_t bits) { return bits != 0 ? 1 : 0; });
    case DType::kUInt8:
      return convert_integers<std::uint8_t>(order, in, count, out);
    case DType::kInt8:
      return convert_integers<std::int8_t>(order, in, count, out);
    case DType::kUInt16:
      return convert_integers<std::uint16_t>(order, in, count, out);
    case DType::kInt16:
      return convert_integers<std::int16_t>(order, in, count, out);
    case DType::kUInt32:
      return convert_integers<std::uint32_t>(order, in, count, out);
    case DType::kInt32:
      return convert_integers<std::int32_t>(order, in, count, out);
    case DType::kUInt64:
      return convert_integers<std::uint64_t>(order, in, count, out);
    case DType::kInt64:
      return convert_integers<std::int64_t>(order, in, count, out);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (dtype) {
      case DType::kFloat16:
        return convert_with<std::uint16_t>(order, in, count, out, half_to_float);
      case DType::kBFloat16:
        return convert_with<std::uint16_t>(order, in, count, out, bfloat_to_float);
      case DType::kFloat32:
        return convert_with<std::uint32_t>(
            order, in, count, out, [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
      case DType::kFloat64:
        return convert_with<std::uint64_t>(
            order, in, count, out, [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
      default:
        break;
    }
  }
  return false;
}

template bool convert_elements<double>(DType, ByteOrder, const std::byte*, std::size_t, double*);
template bool convert_elements<float>(DType, ByteOrder, const std::byte*, std::size_t, float*);
template bool convert_elements<std::int64_t>(DType, ByteOrder, const std::byte*, std::size_t,
                                             std::int64_t*);
template bool convert_elements<std::uint8_t>(DType, ByteOrder, const std::byte*, std::size_t,
                                             std::uint8_t*);
template bool convert_elements<std::uint16_t>(DType, ByteOrder, const std::byte*, std::size_t,
                                              std::uint16_t*);
template bool convert_elements<std::uint32_t>(DType, ByteOrder, const std::byte*, std::size_t,
                                              std::uint32_t*);
template bool convert_elements<std::uint64_t>(DType, ByteOrder, const std::byte*, std::size_t,
                                              std::uint64_t*);

}  // namespace synergraph
