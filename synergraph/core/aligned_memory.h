#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Allocates memory on 64-byte boundaries. Each thread keeps released blocks of the size of a small
/// matrix and reuses them. Returning such a block to the system and faulting it in again costs more
/// than the work done in the block. Blocks of 32 MiB and more use large pages where the system has
/// large pages.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* block, std::size_t bytes);

/// An allocator that uses allocate_aligned().
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}  // NOLINT: allocators convert
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) { release_aligned(block, count * sizeof(T)); }
  template <class U>
  bool operator==(const AlignedAllocator<U>& /*other*/) const {
    return true;
  }
};

/// An AlignedAllocator that leaves elements uninitialised unless the caller gives a value.
template <class T>
struct ScratchAllocator : AlignedAllocator<T> {
  using value_type = T;
  template <class U>
  struct rebind {  // NOLINT: the standard's name
    using other = ScratchAllocator<U>;
  };
  ScratchAllocator() = default;
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>& /*other*/) {}  // NOLINT: allocators convert
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

/// A vector on 64-byte boundaries.
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// A vector on 64-byte boundaries without initialisation: ScratchVector<double>(n) holds arbitrary
/// values.
template <class T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace synergraph
#pragma GCC visibility pop
