#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "synergraph/core/float_type.h"

namespace synergraph {

/// The kinds of element a tensor file may hold; the floating-point ones last, as in FloatType.
enum class DType {
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

/// Bytes of one element.
std::size_t item_size(DType dtype);

/// The name that NumPy and PyTorch use: "float32", "bfloat16", "uint8", "bool".
std::string_view dtype_name(DType dtype);

/// Whether it is bool or one of the integer types.
bool is_integer(DType dtype);

/// Nothing for bool and the integer types.
std::optional<FloatType> float_type(DType dtype);

/// The DType of a C++ type: dtype_of<float>() is DType::kFloat32.
template <class T>
constexpr DType dtype_of() {
  constexpr bool kSigned = std::is_signed_v<T>;
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "not a type of tensor element");
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  }
  switch (sizeof(T)) {
    case 1:
      return kSigned ? DType::kInt8 : DType::kUInt8;
    case 2:
      return kSigned ? DType::kInt16 : DType::kUInt16;
    case 4:
      return kSigned ? DType::kInt32 : DType::kUInt32;
    default:
      return kSigned ? DType::kInt64 : DType::kUInt64;
  }
}

enum class ByteOrder { kLittle, kBig };

/// Converts `count` packed elements of any type to T (double, float or int64_t). Returns false when
/// a value does not fit: only an unsigned 64-bit integer above the largest int64_t. Floating-point
/// elements convert to double and float only. An unsigned T is the bits of elements of its size,
/// whatever they mean; a bool's become 0 or 1.
template <class T>
bool convert_elements(DType dtype, ByteOrder order, const std::byte* in, std::size_t count, T* out);

}  // namespace synergraph
