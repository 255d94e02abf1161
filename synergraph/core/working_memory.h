#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of bytes that work may use in addition to inputs and results. The limit of a piece of
/// work does not depend on other running work. When pieces run in parallel, pieces that need much
/// memory wait for each other.
class WorkingMemory {
 public:
  WorkingMemory(std::size_t bytes = kDefault) : bytes_(bytes) {}  // NOLINT: a number of bytes

  /// Returns a limit for pieces that run in parallel: all copies of the returned object share one
  /// limit.
  WorkingMemory shared() const;

  std::size_t bytes() const { return bytes_; }

  /// Memory that stays reserved during the lifetime of the lease.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&& other) noexcept = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() = default;

   private:
    friend class WorkingMemory;
    explicit Lease(std::shared_ptr<void> held) : held_(std::move(held)) {}
    std::shared_ptr<void> held_;
  };

  /// Waits until `bytes` bytes are free, or all bytes of the limit if `bytes` is larger than the
  /// limit. A thread that holds a lease must not wait for another lease.
  Lease lease(std::size_t bytes) const;

 private:
  struct Pool;
  /// 4 GiB, or SIZE_MAX / 4 where that is smaller.
  static constexpr auto kDefault =
      static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{4} << 30U, SIZE_MAX / 4));

  std::size_t bytes_;
  std::shared_ptr<Pool> pool_;
};

/// The default limit for attention in the program and the C interface. With this limit, a
/// measurement of 4096 tokens takes less than 1 GiB in total (docs/performance.md).
inline constexpr std::size_t kAttentionMemory = std::size_t{1152} << 20U;

}  // namespace synergraph
#pragma GCC visibility pop
