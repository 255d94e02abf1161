#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace synergraph {

/// Sets results of this thread's arithmetic below 2^-1022 to zero during the lifetime of this
/// object. A CPU needs a hundred times as long for such subnormal numbers. Compilers do not know
/// this mode: put the affected computation into a function of another source file. CPUs without SSE
/// keep subnormal numbers.
class FlushUnderflow {
 public:
#if defined(__SSE2__)
  FlushUnderflow() : before_(_mm_getcsr()) {
    _mm_setcsr((before_ | kFlush) & ~kUnderflow);
  }
  ~FlushUnderflow() {
    _mm_setcsr(before_);
  }
  /// Returns true if any result was set to zero.
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
