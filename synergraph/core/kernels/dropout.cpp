#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "synergraph/core/kernels/simd.h"

// Dropout masks, one bit an element. Each Philox block gives eight 16-bit numbers, and an
// element is kept where its number is not below the threshold. With AVX2 eight blocks are drawn
// side by side, and the part of the first two rounds that is the same for a whole step is
// computed once. The 32-bit multiplications of the ten Philox rounds limit it.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

// Philox4x32-10.
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

#ifdef __AVX2__

/// Philox4x32-10 on four counters, each word in the low half of a 64-bit lane. What stands in the
/// high halves does not matter.
struct Counters {
  __m256i word[4];
};

[[gnu::always_inline]] inline __m256i high(__m256i product) {
  return _mm256_srli_epi64(product, 32);
}
[[gnu::always_inline]] inline __m256i product0(__m256i word) {
  return _mm256_mul_epu32(word, _mm256_set1_epi64x(kMultiplier0));
}
[[gnu::always_inline]] inline __m256i product1(__m256i word) {
  return _mm256_mul_epu32(word, _mm256_set1_epi64x(kMultiplier1));
}

/// All ones in the halfwords that are not below the threshold.
[[gnu::always_inline]] inline __m256i at_least(__m256i values, __m256i threshold) {
  return _mm256_cmpeq_epi16(_mm256_max_epu16(values, threshold), values);
}
[[gnu::always_inline]] inline std::uint8_t byte_of(__m256i lanes) {
  return static_cast<std::uint8_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

/// Mask bytes of one step. All but the lowest word of a counter is the same for 2^32 blocks, so
/// that half of the first two rounds is, too: it is done once, here, and so are the rounds' keys.
class MaskWriter {
 public:
  explicit MaskWriter(const MaskBytes& mask)
      : limit_(_mm256_set1_epi16(static_cast<std::int16_t>(mask.threshold))) {
    auto key0 = static_cast<std::uint32_t>(mask.seed);
    auto key1 = static_cast<std::uint32_t>(mask.seed >> 32U);
    for (Key& key : keys_) {
      key = {_mm256_set1_epi64x(key0), _mm256_set1_epi64x(key1)};
      key0 += kWeyl0;
      key1 += kWeyl1;
    }
    const __m256i word1 = _mm256_set1_epi64x(mask.upper);
    const __m256i word3 = _mm256_set1_epi64x(mask.purpose);
    const __m256i first1 = product1(_mm256_set1_epi64x(mask.step));
    const __m256i word0 = _mm256_xor_si256(high(first1), _mm256_xor_si256(keys_[0].first, word1));
    first2_ = _mm256_xor_si256(keys_[0].second, word3);
    second0_ = _mm256_xor_si256(keys_[1].first, first1);
    second3_ = product0(word0);
    second2_ = _mm256_xor_si256(high(second3_), keys_[1].second);
  }

  /// Eight bytes from the eight blocks whose lower words start at `lower`, a multiple of 8.
  [[gnu::always_inline]] void write(std::uint32_t lower, std::uint8_t* bytes) const {
    const __m256i start = _mm256_set1_epi64x(lower);
    Counters even = begin(_mm256_add_epi64(start, _mm256_set_epi64x(6, 4, 2, 0)));
    Counters odd = begin(_mm256_add_epi64(start, _mm256_set_epi64x(7, 5, 3, 1)));
    for (int k = 2; k < kRounds; ++k) {
      round(even, keys_[k]);
      round(odd, keys_[k]);
    }
    for (int w = 0; w < 4; ++w) {
      const __m256i words =
          _mm256_blend_epi32(even.word[w], _mm256_slli_epi64(odd.word[w], 32), 0b10101010);
      const __m256i kept = at_least(words, limit_);
      bytes[2 * w] = byte_of(_mm256_slli_epi32(kept, 16));
      bytes[2 * w + 1] = byte_of(kept);
    }
  }

 private:
  struct Key {
    __m256i first;
    __m256i second;
  };

  /// The first two rounds.
  [[gnu::always_inline]] Counters begin(__m256i word0) const {
    const __m256i first0 = product0(word0);
    const __m256i second1 = product1(_mm256_xor_si256(high(first0), first2_));
    return {{_mm256_xor_si256(high(second1), second0_), second1, _mm256_xor_si256(first0, second2_),
             second3_}};
  }

  [[gnu::always_inline]] static void round(Counters& c, const Key& key) {
    const __m256i p0 = product0(c.word[0]);
    const __m256i p1 = product1(c.word[2]);
    c.word[0] = _mm256_xor_si256(high(p1), _mm256_xor_si256(key.first, c.word[1]));
    c.word[1] = p1;
    c.word[2] = _mm256_xor_si256(high(p0), _mm256_xor_si256(key.second, c.word[3]));
    c.word[3] = p0;
  }

  Key keys_[kRounds];
  __m256i limit_;
  // Parts of the first and second round that do not depend on the lowest word.
  __m256i first2_;
  __m256i second0_;
  __m256i second2_;
  __m256i second3_;
};

#else

/// Mask bytes of one step.
class MaskWriter {
 public:
  explicit MaskWriter(const MaskBytes& mask) : mask_(mask) {}

  /// Eight bytes from the eight blocks whose lower words start at `lower`, a multiple of 8.
  void write(std::uint32_t lower, std::uint8_t* bytes) const {
    fill(bytes, bytes + 8, std::uint8_t{0});
    for (unsigned lane = 0; lane < 8; ++lane) {
      std::uint32_t words[4] = {lower + lane, mask_.upper, mask_.step, mask_.purpose};
      draw(words);
      for (unsigned half = 0; half < 8; ++half) {
        const std::uint32_t value = (words[half / 2] >> (16U * (half % 2))) & 0xFFFFU;
        if (value >= mask_.threshold)
          bytes[half] = static_cast<std::uint8_t>(bytes[half] | (1U << lane));
      }
    }
  }

 private:
  void draw(std::uint32_t* words) const {
    auto key0 = static_cast<std::uint32_t>(mask_.seed);
    auto key1 = static_cast<std::uint32_t>(mask_.seed >> 32U);
    for (int k = 0; k < kRounds; ++k, key0 += kWeyl0, key1 += kWeyl1) {
      const std::uint64_t p0 = std::uint64_t{kMultiplier0} * words[0];
      const std::uint64_t p1 = std::uint64_t{kMultiplier1} * words[2];
      words[0] = static_cast<std::uint32_t>(p1 >> 32U) ^ key0 ^ words[1];
      words[1] = static_cast<std::uint32_t>(p1);
      words[2] = static_cast<std::uint32_t>(p0 >> 32U) ^ key1 ^ words[3];
      words[3] = static_cast<std::uint32_t>(p0);
    }
  }

  MaskBytes mask_;
};

#endif

}  // namespace

void dropout_mask(const MaskBytes& mask, std::uint32_t lower, std::size_t count,
                  std::uint8_t* bytes) {
  const MaskWriter writer(mask);
  for (std::size_t k = 0; k < count; k += 8)
    writer.write(lower + static_cast<std::uint32_t>(k), bytes + k);
}

}  // namespace synergraph::SYNERGRAPH_ISA
