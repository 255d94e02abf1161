#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace synergraph {

/// Where in the model a mask is used.
enum class DropoutSite : std::uint32_t { kAttention = 0, kMlp = 1 };

/// Dropout of one optimisation step. A mask is a sequence of bytes with eight elements each, lowest
/// bit first. A set bit keeps its element, and the model multiplies a kept element by scale().
///
/// Masks are pure functions of (seed, step, layer, site, element), the same on every backend.
/// Element 8u+l of a mask compares halfword u % 8 of Philox block 8 (u/8) + l with the rate in
/// units of 2^-16: halfword 2w is the low half of word w, 2w+1 the high half. The blocks are those
/// of RandomStream(seed, Purpose::kDropout, step), numbered from (2 layer + site) * 2^40.
class Dropout {
 public:
  Dropout() = default;
  /// The rate, in [0, 1), is rounded to a multiple of 2^-16. UsageError outside that range.
  Dropout(double rate, std::uint64_t seed, std::uint32_t step);

  bool active() const { return threshold_ > 0; }
  std::uint32_t threshold() const { return threshold_; }  ///< the rate in units of 2^-16
  /// 1 / (1 - rate), with the rounded rate: what a kept element is multiplied by.
  float scale() const { return scale_; }
  /// Writes bytes first_byte .. first_byte + count - 1 of a mask; first_byte is a multiple of 8.
  /// The function writes up to the next multiple of 8 bytes.
  void mask(int layer, DropoutSite site, std::uint64_t first_byte, std::size_t count,
            std::uint8_t* bytes) const;

 private:
  std::uint32_t threshold_ = 0;
  float scale_ = 1.0F;
  std::uint64_t seed_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace synergraph
#pragma GCC visibility pop
