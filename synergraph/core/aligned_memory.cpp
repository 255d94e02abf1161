#include "synergraph/core/aligned_memory.h"

#include <algorithm>
#include <array>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace synergraph {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kLargePage = std::size_t{1} << 21U;
constexpr std::size_t kSmallest = std::size_t{1} << 12U;  // smaller blocks are malloc's business
constexpr std::size_t kLargest = std::size_t{1} << 21U;   // larger ones cost less than their use
constexpr std::size_t kHuge = std::size_t{1} << 25U;  // malloc asks the system for each of these
constexpr std::size_t kMostBytes = std::size_t{1} << 23U;
constexpr std::size_t kMostBlocks = 64;

#if defined(__has_feature)  // Clang's way to ask
#if __has_feature(address_sanitizer)
#define SYNERGRAPH_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)  // GCC's
#define SYNERGRAPH_ADDRESS_SANITIZER
#endif

#if defined(SYNERGRAPH_ADDRESS_SANITIZER)
constexpr bool kKeep = false;  // so that a use after release is seen
#else
constexpr bool kKeep = true;
#endif

std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes < kHuge ? kLine : kLargePage};
}

void* take(std::size_t bytes) {
  void* block = ::operator new(bytes, alignment(bytes));
#if defined(MADV_HUGEPAGE)
  // Only advice: without effect, things still work. What is written once into small pages waits
  // for the system more than for memory.
  if (bytes >= kHuge) madvise(block, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return block;
}

void give_back(void* block, std::size_t bytes) {
  ::operator delete(block, alignment(bytes));
}

/// Blocks of this thread that wait for their next use.
struct Cache {
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  // Of a fixed size: releasing memory must not need any.
  std::array<Block, kMostBlocks> blocks;
  std::size_t count = 0;
  std::size_t bytes = 0;

  ~Cache();
};

// Outlives the cache itself: blocks may be released after it at the end of a thread.
thread_local bool cache_gone = false;

Cache::~Cache() {
  cache_gone = true;
  for (std::size_t k = 0; k < count; ++k) give_back(blocks[k].memory, blocks[k].bytes);
}

Cache& cache() {
  thread_local Cache instance;
  return instance;
}

bool kept_size(std::size_t bytes) {
  return kKeep && bytes >= kSmallest && bytes <= kLargest && !cache_gone;
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (kept_size(bytes)) {
    Cache& kept = cache();
    for (std::size_t k = kept.count; k > 0; --k) {
      if (kept.blocks[k - 1].bytes != bytes) continue;
      void* memory = kept.blocks[k - 1].memory;
      std::copy(kept.blocks.begin() + k, kept.blocks.begin() + kept.count,
                kept.blocks.begin() + k - 1);
      --kept.count;
      kept.bytes -= bytes;
      return memory;
    }
  }
  return take(bytes);
}

void release_aligned(void* block, std::size_t bytes) {
  if (kept_size(bytes)) {
    Cache& kept = cache();
    if (kept.count < kMostBlocks && kept.bytes + bytes <= kMostBytes) {
      kept.blocks[kept.count++] = {block, bytes};
      kept.bytes += bytes;
      return;
    }
  }
  give_back(block, bytes);
}

}  // namespace synergraph
