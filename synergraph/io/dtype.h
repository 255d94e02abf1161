#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "synergraph/core/float_type.h"
#include "synergraph/core/names.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The element types that a tensor file may hold. The floating-point types come last, in the order
/// of FloatType.
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

/// The names that NumPy and PyTorch use.
template <>
inline constexpr NameTable<DType, 13> kNamesOf<DType>{{
    {DType::kBool, "bool"},
    {DType::kUInt8, "uint8"},
    {DType::kInt8, "int8"},
    {DType::kUInt16, "uint16"},
    {DType::kInt16, "int16"},
    {DType::kUInt32, "uint32"},
    {DType::kInt32, "int32"},
    {DType::kUInt64, "uint64"},
    {DType::kInt64, "int64"},
    {DType::kFloat16, name_of(FloatType::kFloat16)},
    {DType::kBFloat16, name_of(FloatType::kBFloat16)},
    {DType::kFloat32, name_of(FloatType::kFloat32)},
    {DType::kFloat64, name_of(FloatType::kFloat64)},
}};

/// Bytes of one element.
std::size_t item_size(DType dtype);

/// Returns whether `dtype` is bool or an integer type.
bool is_integer(DType dtype);

/// Returns the FloatType of `dtype`, or nothing for bool and the integer types.
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

/// Converts `count` packed elements of any type to T (double, float or int64_t). Returns false if a
/// value does not fit; only an unsigned 64-bit integer above the largest int64_t does not fit.
/// Floating-point elements convert to double and float only. An unsigned T receives the raw bits of
/// elements of the same size; a bool becomes 0 or 1.
template <class T>
[[gnu::visibility("default")]] bool convert_elements(DType dtype, ByteOrder order,
                                                     const std::byte* in, std::size_t count,
                                                     T* out);

}  // namespace synergraph
#pragma GCC visibility pop
