#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)
namespace synergraph {

/// How many bytes work may use beside its inputs and results. What may be used is a matter of the
/// work alone and not of what else is running: where pieces of work run side by side, those that
/// want much of the memory wait for each other.
class WorkingMemory {
 public:
  WorkingMemory(std::size_t bytes = kDefault) : bytes_(bytes) {}  // NOLINT: a number of bytes

  /// The same for pieces that run side by side: all copies of it together keep to it.
  WorkingMemory shared() const;

  std::size_t bytes() const { return bytes_; }

  /// Memory that is in use while this lives.
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

  /// Waits until so many bytes, or all there are, are free. A thread that holds a lease must not
  /// wait for another.
  Lease lease(std::size_t bytes) const;

 private:
  struct Pool;
  /// 4 GiB, or as much of that as there can be.
  static constexpr auto kDefault =
      static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{4} << 30U, SIZE_MAX / 4));

  std::size_t bytes_;
  std::shared_ptr<Pool> pool_;
};

/// What the program and the C interface measure attention in unless told otherwise: with it, all
/// that they take for 4096 tokens is less than 1 GiB (docs/performance.md).
inline constexpr std::size_t kAttentionMemory = std::size_t{1152} << 20U;

}  // namespace synergraph
#pragma GCC visibility pop
