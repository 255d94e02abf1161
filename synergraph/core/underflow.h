#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace synergraph {

/// As long as it lives, results of this thread's arithmetic that are too small to be normal
/// numbers, below 2^-1022, are zero: a CPU needs a hundred times as long for the digits that such
/// numbers have left. Compilers do not know of it: what is to be computed so belongs into a
/// function of another source. CPUs without SSE go on as ever.
class FlushUnderflow {
 public:
#if defined(__SSE2__)
  FlushUnderflow() : before_(_mm_getcsr()) {
    _mm_setcsr((before_ | kFlush) & ~kUnderflow);
  }
  ~FlushUnderflow() {
    _mm_setcsr(before_);
  }
  /// Has any result become zero so?
  bool happened() const {
    return (_mm_getcsr() & kUnderflow) != 0;
  }
#else
  FlushUnderflow() = default;
  bool happened() const {
    return false;
  }
#endif
  FlushUnderflow(const FlushUnderflow&) = delete;
  FlushUnderflow& operator=(const FlushUnderflow&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr std::uint32_t kFlush = _MM_FLUSH_ZERO_ON;
  static constexpr std::uint32_t kUnderflow = _MM_EXCEPT_UNDERFLOW;
  std::uint32_t before_;
#endif
};

}  // namespace synergraph
