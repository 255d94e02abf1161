#pragma once

#include <cstring>

namespace synergraph {

/// Doubles in one vector register of the CPU this is compiled for.
#if defined(__AVX512F__)
inline constexpr int kLanes = 8;
#elif defined(__AVX__)
inline constexpr int kLanes = 4;
#else
inline constexpr int kLanes = 2;
#endif

/// One vector register of doubles: element-wise +, -, * as the compiler's vector extension has
/// them.
using Vec [[gnu::vector_size(kLanes * sizeof(double))]] = double;

/// Loads kLanes consecutive doubles; no alignment needed.
inline Vec load(const double* from) {
  Vec value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Stores kLanes consecutive doubles; no alignment needed.
inline void store(double* to, Vec value) {
  std::memcpy(to, &value, sizeof value);
}

/// The same double in every lane.
inline Vec broadcast(double value) {
  return value - Vec{};
}

/// Keeps a loaded value in a register. Compilers otherwise repeat the load in every use, and a loop
/// that could run at the speed of its multiply-adds runs at the speed of its loads.
inline void pin(Vec& value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#else
  (void)value;
#endif
}

/// The sum of all lanes, pairwise.
inline double sum(Vec value) {
  double lanes[kLanes];
  store(lanes, value);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) lanes[k] += lanes[k + width];
  return lanes[0];
}

/// The largest of `count` numbers, none of them NaN; `least` if none is larger.
inline double largest(const double* a, int count, double least) {
  Vec m = broadcast(least);
  int k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    const Vec x = load(a + k);
    m = x > m ? x : m;
  }
  double lanes[kLanes];
  store(lanes, m);
  for (const double lane : lanes) least = lane > least ? lane : least;
  for (; k < count; ++k) least = a[k] > least ? a[k] : least;
  return least;
}

/// Inner product of two arrays, in a fixed order of summation with short chains.
inline double dot(const double* a, const double* b, int count) {
  Vec s0{};
  Vec s1{};
  Vec s2{};
  Vec s3{};
  int k = 0;
  for (; k + 4 * kLanes <= count; k += 4 * kLanes) {
    s0 += load(a + k) * load(b + k);
    s1 += load(a + k + kLanes) * load(b + k + kLanes);
    s2 += load(a + k + 2 * kLanes) * load(b + k + 2 * kLanes);
    s3 += load(a + k + 3 * kLanes) * load(b + k + 3 * kLanes);
  }
  for (; k + kLanes <= count; k += kLanes) s0 += load(a + k) * load(b + k);
  double tail = 0.0;
  for (; k < count; ++k) tail += a[k] * b[k];
  return sum((s0 + s1) + (s2 + s3)) + tail;
}

/// Sum of an array, in a fixed order with short chains.
inline double total(const double* a, int count) {
  Vec s0{};
  Vec s1{};
  int k = 0;
  for (; k + 2 * kLanes <= count; k += 2 * kLanes) {
    s0 += load(a + k);
    s1 += load(a + k + kLanes);
  }
  for (; k + kLanes <= count; k += kLanes) s0 += load(a + k);
  double tail = 0.0;
  for (; k < count; ++k) tail += a[k];
  return sum(s0 + s1) + tail;
}

}  // namespace synergraph
