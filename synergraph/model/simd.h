#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

/// Eight floats side by side, in the compiler's portable vector types: AVX2 instructions where the
/// build allows them, pairs of SSE instructions otherwise. No vector is passed between files, so
/// sources that include this are compiled with -Wno-psabi.

namespace synergraph::simd {

inline constexpr int kLanes = 8;
using Lanes = float __attribute__((vector_size(32)));
using IntLanes = std::int32_t __attribute__((vector_size(32)));

/// A vector type of any width that may lie anywhere in memory.
template <class Vector>
[[gnu::always_inline]] inline Vector load_as(const float* from) {
  Vector value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
[[gnu::always_inline]] inline Lanes load(const float* from) {
  return load_as<Lanes>(from);
}
template <class Vector>
[[gnu::always_inline]] inline void store(float* to, Vector value) {
  std::memcpy(to, &value, sizeof value);
}
/// The value in every lane. (x - 0 is x for every x, so this is a broadcast; x + 0 is not for -0.)
template <class Vector>
[[gnu::always_inline]] inline Vector splat_as(float value) {
  return value - Vector{};
}
[[gnu::always_inline]] inline Lanes splat(float value) {
  return splat_as<Lanes>(value);
}
/// Keeps a loaded value in a register, however often it is used.
template <class Vector>
[[gnu::always_inline]] inline void pin(Vector& value) {
#if defined(__AVX__)
  asm("" : "+x"(value));
#else
  (void)value;
#endif
}
/// a > b ? a : b in every lane.
[[gnu::always_inline]] inline Lanes maximum(Lanes a, Lanes b) {
#if defined(__AVX__)
  return __builtin_ia32_maxps256(a, b);
#else
  return a > b ? a : b;
#endif
}
[[gnu::always_inline]] inline IntLanes bits(Lanes value) {
  return reinterpret_cast<IntLanes>(value);
}
[[gnu::always_inline]] inline Lanes from_bits(IntLanes value) {
  return reinterpret_cast<Lanes>(value);
}

/// 2^t to about one unit in the last place; t below -126 counts as -126, t must be below 128.
[[gnu::always_inline]] inline Lanes exp2(Lanes t) {
  const Lanes shift = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  t = maximum(t, splat(-126.0F));
  const Lanes rounded = t + shift;
  const Lanes f = t - (rounded - shift);
  Lanes p = splat(1.535336188319500e-4F);
  p = p * f + splat(1.339887440266574e-3F);
  p = p * f + splat(9.618437357674640e-3F);
  p = p * f + splat(5.550332471162809e-2F);
  p = p * f + splat(2.402264791363012e-1F);
  p = p * f + splat(6.931472028550421e-1F);
  p = p * f + splat(1.0F);
  return from_bits(bits(p) + (bits(rounded) << 23));
}
inline constexpr float kLog2E = 1.44269504088896340736F;

[[gnu::always_inline]] inline float sum(Lanes value) {
  const Lanes a = value + __builtin_shufflevector(value, value, 4, 5, 6, 7, 0, 1, 2, 3);
  const Lanes b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  return b[0] + b[1];
}

/// All ones in the lanes whose bit is set in `byte`, zero elsewhere: a kept or dropped mask.
[[gnu::always_inline]] inline IntLanes expand_bits(std::uint8_t byte) {
  const IntLanes select = {1, 2, 4, 8, 16, 32, 64, 128};
  using Bytes = std::uint8_t __attribute__((vector_size(32)));
  const auto all = reinterpret_cast<IntLanes>(Bytes{} + byte);
  return (all & select) == select;
}
/// The value where the mask is set, zero elsewhere.
[[gnu::always_inline]] inline Lanes keep(Lanes value, IntLanes mask) {
  return from_bits(bits(value) & mask);
}

}  // namespace synergraph::simd
