#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "synergraph/core/kernels/instruction_set.h"

/// Vectors of numbers, in the compiler's portable vector types. Everything here is inlined into the
/// kernels: no vector is passed between files.

namespace synergraph::SYNERGRAPH_ISA {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

template <class Element, int kCount>
struct VectorOf {
  using Type [[gnu::vector_size(kCount * sizeof(Element))]] = Element;
};
/// kCount numbers side by side, with element-wise operators.
template <class Element, int kCount>
using Vector = typename VectorOf<Element, kCount>::Type;

/// One register of doubles.
inline constexpr int kDoubles = kRegisterBytes / static_cast<int>(sizeof(double));
using Doubles = Vector<double, kDoubles>;

/// Eight floats, in one register or in two: the blocks in which a sequence is laid out.
inline constexpr int kFloats = 8;
using Floats = Vector<float, kFloats>;
using Ints = Vector<std::int32_t, kFloats>;

/// As many consecutive numbers as the vector has; no alignment needed.
template <class Vector, class Element>
[[gnu::always_inline]] inline Vector load(const Element* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
template <class Vector, class Element>
[[gnu::always_inline]] inline void store(Element* to, Vector value) {
  __builtin_memcpy(to, &value, sizeof value);
}
/// The value in every lane. (x - 0 is x for every x, so this is a broadcast; x + 0 is not for -0.)
template <class Vector, class Element>
[[gnu::always_inline]] inline Vector splat(Element value) {
  return value - Vector{};
}
/// Keeps a loaded value in a register. Compilers otherwise repeat the load in every use, and a loop
/// that could run at the speed of its multiply-adds runs at the speed of its loads.
template <class Vector>
[[gnu::always_inline]] inline void pin(Vector& value) {
#if defined(__x86_64__)
  if constexpr (sizeof(Vector) <= kRegisterBytes) asm("" : "+x"(value));
#else
  (void)value;
#endif
}
/// The sum of all lanes, pairwise.
template <class Element, int kCount>
[[gnu::always_inline]] inline Element sum_of(Vector<Element, kCount> value) {
  if constexpr (kCount == 2) {
    return value[0] + value[1];
  } else {
    Vector<Element, kCount / 2> half[2];
    __builtin_memcpy(half, &value, sizeof value);
    return sum_of<Element, kCount / 2>(half[0] + half[1]);
  }
}
[[gnu::always_inline]] inline double sum(Doubles value) {
  return sum_of<double, kDoubles>(value);
}
[[gnu::always_inline]] inline float sum(Floats value) {
  return sum_of<float, kFloats>(value);
}

/// a > b ? a : b in every lane.
[[gnu::always_inline]] inline Floats maximum(Floats a, Floats b) {
#if defined(__AVX__)
  return __builtin_ia32_maxps256(a, b);
#else
  return a > b ? a : b;
#endif
}
[[gnu::always_inline]] inline Ints bits(Floats value) {
  return reinterpret_cast<Ints>(value);
}
[[gnu::always_inline]] inline Floats from_bits(Ints value) {
  return reinterpret_cast<Floats>(value);
}
/// All ones in the lanes whose bit is set in `byte`, zero elsewhere: a kept or dropped mask.
[[gnu::always_inline]] inline Ints expand_bits(std::uint8_t byte) {
  const Ints select = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto all = reinterpret_cast<Ints>(Vector<std::uint8_t, 32>{} + byte);
  return (all & select) == select;
}
/// The value where the mask is set, zero elsewhere.
[[gnu::always_inline]] inline Floats keep(Floats value, Ints mask) {
  return from_bits(bits(value) & mask);
}

/// 2^t to about one unit in the last place; t below -126 counts as -126, t must be below 128.
[[gnu::always_inline]] inline Floats exp2(Floats t) {
  const auto shift = splat<Floats>(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  t = maximum(t, splat<Floats>(-126.0F));
  const Floats rounded = t + shift;
  const Floats f = t - (rounded - shift);
  auto p = splat<Floats>(1.535336188319500e-4F);
  p = p * f + splat<Floats>(1.339887440266574e-3F);
  p = p * f + splat<Floats>(9.618437357674640e-3F);
  p = p * f + splat<Floats>(5.550332471162809e-2F);
  p = p * f + splat<Floats>(2.402264791363012e-1F);
  p = p * f + splat<Floats>(6.931472028550421e-1F);
  p = p * f + splat<Floats>(1.0F);
  return from_bits(bits(p) + (bits(rounded) << 23));
}
inline constexpr float kLog2E = 1.44269504088896340736F;

// The standard library's own would be shared with the rest of the program: see instruction_set.h.
template <class Number>
[[gnu::always_inline]] inline Number smaller(Number a, Number b) {
  return b < a ? b : a;
}
template <class Number>
[[gnu::always_inline]] inline Number larger(Number a, Number b) {
  return a < b ? b : a;
}
template <class Element>
[[gnu::always_inline]] inline void fill(Element* first, Element* last, Element value) {
  for (; first < last; ++first) *first = value;
}

}  // namespace synergraph::SYNERGRAPH_ISA
