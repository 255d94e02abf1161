#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "synergraph/core/names.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The floating-point types of attention files and arrays.
enum class FloatType { kFloat16, kBFloat16, kFloat32, kFloat64 };

/// The names of these types in NumPy and PyTorch.
template <>
inline constexpr NameTable<FloatType, 4> kNamesOf<FloatType>{{
    {FloatType::kFloat16, "float16"},
    {FloatType::kBFloat16, "bfloat16"},
    {FloatType::kFloat32, "float32"},
    {FloatType::kFloat64, "float64"},
}};

/// Returns the number of bytes of one element.
constexpr std::size_t item_size(FloatType type) {
  return type == FloatType::kFloat64 ? 8 : type == FloatType::kFloat32 ? 4 : 2;
}

/// Converts IEEE binary16 to binary32 without a branch, so that compilers can vectorise the loop
/// around the call. The function moves exponent and fraction to their places in binary32 and
/// rescales the number. The rescaling also normalises subnormal numbers.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7fffU) << 13U;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
  const std::uint32_t finite =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
  const std::uint32_t special = magnitude | 0x7f800000U;
  const std::uint32_t bits = magnitude >= 0x0f800000U ? special : finite;
  return std::bit_cast<float>(bits | sign);
}

/// Converts bfloat16, which is the upper half of binary32, to binary32.
inline float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace synergraph
#pragma GCC visibility pop
