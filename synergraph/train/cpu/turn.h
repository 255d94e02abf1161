#pragma once

#include <atomic>
#include <climits>
#include <thread>

namespace synergraph {

/// Lets the sequences of a group add to the same gradient in order while several threads work on
/// them: the gradient has parts, every sequence goes through them in the same order, and enters a
/// part when the sequence before it has left that part.
class Turn {
 public:
  /// How many parts a sequence has left.
  using Progress = std::atomic<int>;

  /// `previous` is null for the first sequence of a group.
  Turn(const Progress* previous, Progress* own) : previous_(previous), own_(own) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  /// Lets the next sequence pass everything, also if this one has failed.
  ~Turn() { own_->store(INT_MAX, std::memory_order_release); }

  void enter() const {
    if (previous_ == nullptr) return;
    for (int look = 0; previous_->load(std::memory_order_acquire) <= part_; ++look)
      if (look > kLooks) std::this_thread::yield();
  }
  void leave() { own_->store(++part_, std::memory_order_release); }

 private:
  static constexpr int kLooks = 1000;  ///< before other threads may have this CPU

  const Progress* previous_;
  Progress* own_;
  int part_ = 0;
};

}  // namespace synergraph
