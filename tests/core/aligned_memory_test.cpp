#include "synergraph/core/aligned_memory.h"

#include <gtest/gtest.h>

// Only there where AddressSanitizer is: asked of the linker, not of the macros that may be wrong.
extern "C" int __asan_address_is_poisoned(const volatile void* address)  // NOLINT: its name
    __attribute__((weak));

namespace synergraph {
namespace {

/// Of a size that is kept for the next caller in other builds.
constexpr std::size_t kBytes = 1U << 14U;

TEST(AlignedMemoryDeathTest, UseAfterReleaseIsSeenByAddressSanitizer) {
  if (__asan_address_is_poisoned == nullptr) GTEST_SKIP() << "needs AddressSanitizer";
  auto* block = static_cast<volatile char*>(allocate_aligned(kBytes));
  release_aligned(const_cast<char*>(block), kBytes);
  EXPECT_DEATH(block[0] = 1, "heap-use-after-free");
}

TEST(AlignedMemory, LiesOn64ByteBoundaries) {
  for (const std::size_t bytes : {std::size_t{1}, kBytes, std::size_t{1} << 22U}) {
    void* block = allocate_aligned(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
    release_aligned(block, bytes);
  }
}

}  // namespace
}  // namespace synergraph
