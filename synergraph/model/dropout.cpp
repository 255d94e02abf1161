#include "synergraph/model/dropout.h"

#include <fmt/core.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"

namespace synergraph {
namespace {

constexpr double kUnits = 65536.0;

#ifdef __AVX2__

/// Philox4x32-10 on four counters, each word in the low half of a 64-bit lane.
struct Counters {
  __m256i word[4];
};

[[gnu::always_inline]] inline void philox_round(Counters& c, __m256i key0, __m256i key1) {
  const __m256i product0 = _mm256_mul_epu32(c.word[0], _mm256_set1_epi64x(0xD2511F53));
  const __m256i product1 = _mm256_mul_epu32(c.word[2], _mm256_set1_epi64x(0xCD9E8D57));
  c.word[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), key0), c.word[1]);
  c.word[1] = product1;
  c.word[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), key1), c.word[3]);
  c.word[3] = product0;
}

[[gnu::always_inline]] inline std::uint8_t at_least(__m256i values, __m256i threshold) {
  const __m256i reached = _mm256_cmpeq_epi32(_mm256_max_epi32(values, threshold), values);
  return static_cast<std::uint8_t>(_mm256_movemask_ps(_mm256_castsi256_ps(reached)));
}

/// Eight bytes of a mask from the eight blocks that start at `block`, a multiple of 8.
[[gnu::always_inline]] inline void eight_bytes(std::uint64_t block, std::uint32_t step,
                                               std::uint64_t seed, std::uint32_t threshold,
                                               std::uint8_t* bytes) {
  const auto start = [&](int first) {
    const __m256i lanes = _mm256_set_epi64x(first + 6, first + 4, first + 2, first);
    const __m256i low = _mm256_set1_epi64x(static_cast<std::uint32_t>(block));
    return Counters{{_mm256_add_epi64(low, lanes),
                     _mm256_set1_epi64x(static_cast<long long>(block >> 32U)),
                     _mm256_set1_epi64x(step),
                     _mm256_set1_epi64x(static_cast<std::uint32_t>(Purpose::kDropout))}};
  };
  Counters even = start(0);
  Counters odd = start(1);
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const __m256i k0 = _mm256_set1_epi64x(key0);
    const __m256i k1 = _mm256_set1_epi64x(key1);
    philox_round(even, k0, k1);
    philox_round(odd, k0, k1);
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(threshold));
  for (int w = 0; w < 4; ++w) {
    const __m256i words =
        _mm256_blend_epi32(even.word[w], _mm256_slli_epi64(odd.word[w], 32), 0b10101010);
    bytes[2 * w] = at_least(_mm256_and_si256(words, _mm256_set1_epi32(0xFFFF)), limit);
    bytes[2 * w + 1] = at_least(_mm256_srli_epi32(words, 16), limit);
  }
}

#else

void eight_bytes(std::uint64_t block, std::uint32_t step, std::uint64_t seed,
                 std::uint32_t threshold, std::uint8_t* bytes) {
  const RandomStream stream(seed, Purpose::kDropout, step);
  std::fill(bytes, bytes + 8, std::uint8_t{0});
  for (unsigned lane = 0; lane < 8; ++lane) {
    const auto words = stream.words(block + lane);
    for (unsigned half = 0; half < 8; ++half) {
      const std::uint32_t draw = (words[half / 2] >> (16U * (half % 2))) & 0xFFFFU;
      if (draw >= threshold) bytes[half] = static_cast<std::uint8_t>(bytes[half] | (1U << lane));
    }
  }
}

#endif

}  // namespace

Dropout::Dropout(double rate, std::uint64_t seed, std::uint32_t step) : seed_(seed), step_(step) {
  if (!(rate >= 0.0 && rate < 1.0))
    throw UsageError(fmt::format("dropout must be in [0, 1), not {}", rate));
  threshold_ = static_cast<std::uint32_t>(std::min(std::lround(rate * kUnits), 65535L));
  scale_ = static_cast<float>(kUnits / (kUnits - threshold_));
}

void Dropout::mask(int layer, DropoutSite site, std::uint64_t first_byte, std::size_t count,
                   std::uint8_t* bytes) const {
  const std::uint64_t place =
      2 * static_cast<std::uint64_t>(layer) + static_cast<std::uint32_t>(site);
  const std::uint64_t first_block = (place << 40U) + first_byte;
  for (std::size_t byte = 0; byte < count; byte += 8)
    eight_bytes(first_block + byte, step_, seed_, threshold_, bytes + byte);
}

}  // namespace synergraph
