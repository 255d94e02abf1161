#include "synergraph/core/aligned_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "synergraph/core/random.h"

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

// Blocks of all sizes come and go in any order: each is aligned and holds what was put into it.
TEST(AlignedMemory, BlocksAreAlignedAndDoNotOverlap) {
  struct Block {
    unsigned char* memory;
    std::size_t bytes;
    unsigned char mark;
  };
  RandomSequence draws(3, Purpose::kTest);
  std::vector<Block> blocks;
  const auto release = [&](std::size_t k) {
    const Block block = blocks[k];
    for (std::size_t at = 0; at < block.bytes; at += 61) ASSERT_EQ(block.memory[at], block.mark);
    release_aligned(block.memory, block.bytes);
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(k));
  };
  for (int round = 0; round < 3000; ++round) {
    if (blocks.size() > 20 || (!blocks.empty() && draws.below(3) == 0)) {
      release(draws.below(blocks.size()));
      continue;
    }
    // Sizes recur, below, within and above those that are kept.
    const std::size_t bytes = std::size_t{100} << draws.below(16);
    auto* memory = static_cast<unsigned char*>(allocate_aligned(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    const auto mark = static_cast<unsigned char>(round);
    std::memset(memory, mark, bytes);
    blocks.push_back({memory, bytes, mark});
  }
  while (!blocks.empty()) release(blocks.size() - 1);
}

TEST(AlignedMemory, MayBeReleasedOnAnotherThread) {
  for (int round = 0; round < 50; ++round) {
    ScratchVector<double> moved(2000, 1.0);
    std::thread([taken = std::move(moved)]() mutable { taken = ScratchVector<double>(); }).join();
  }
}

TEST(AlignedMemory, VectorsStartWithTheirValuesAndRowsOnCacheLines) {
  EXPECT_EQ(AlignedVector<float>(3), (AlignedVector<float>{0.0F, 0.0F, 0.0F}));
  EXPECT_EQ(ScratchVector<double>(2, 4.0), (ScratchVector<double>{4.0, 4.0}));
  for (int round = 0; round < 100; ++round) {
    ScratchVector<double> values(static_cast<std::size_t>(500 + round), 9.0);
    const AlignedVector<double> fresh(values.size());
    for (const double value : fresh) ASSERT_EQ(value, 0.0);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0U);
  }
}

}  // namespace
}  // namespace synergraph
