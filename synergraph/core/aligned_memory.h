#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Memory on 64-byte boundaries. Blocks of the size of a small matrix are kept for the next caller
/// on the same thread: handing them back to the system and faulting them in again costs more than
/// the work done in them. Those of 32 MiB and more are on large pages where the system has them.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* block, std::size_t bytes);

/// An allocator of aligned memory.
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

/// The same, but elements start out uninitialised unless a value is given.
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

/// The same without initialisation: ScratchVector<double>(n) holds anything.
template <class T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace synergraph
#pragma GCC visibility pop
