#include "capi/call.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "synergraph/core/error.h"

namespace synergraph::capi {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kMostThreads = 4096;

/// Work on a thread of its own, and what it tells the one that waits.
class Watched {
 public:
  Watched(const sg_call& call, Execution execution)
      : call_(call), execution_(std::move(execution)) {
    execution_.stop = [this] { return stop_.load(std::memory_order_relaxed); };
    execution_.progress.listener = [this](std::uint64_t done, std::uint64_t total,
                                          const std::string& detail) {
      const std::lock_guard lock(state_mutex_);
      done_ = done;
      total_ = total;
      detail_ = detail;
    };
  }

  void run(const std::function<void(const Execution&)>& work) {
    std::thread worker([&] {
      std::exception_ptr error;
      try {
        work(execution_);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      error_ = error;
      finished_ = true;
      news_.notify_one();
    });
    try {
      wait();
    } catch (...) {
      stop_ = true;
      worker.join();
      throw;
    }
    worker.join();
    if (error_) std::rethrow_exception(error_);
    if (stop_ || heard()) throw Stopped();
  }

 private:
  /// Until the work is finished.
  void wait() {
    std::unique_lock lock(mutex_);
    while (!news_.wait_for(lock, kInterval, [this] { return finished_; })) {
      if (stop_) continue;
      lock.unlock();
      if (heard()) stop_ = true;
      lock.lock();
    }
  }

  /// Tells how far it is; whether to stop.
  bool heard() {
    std::unique_lock lock(state_mutex_);
    const std::uint64_t done = done_;
    const std::uint64_t total = total_;
    const std::string detail = detail_;
    lock.unlock();
    return call_.progress(done, total, detail.c_str(), call_.user) != 0;
  }

  const sg_call& call_;
  Execution execution_;
  std::atomic<bool> stop_{false};
  std::mutex state_mutex_;  // of the next three
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::string detail_;
  std::mutex mutex_;
  std::condition_variable news_;
  bool finished_ = false;
  std::exception_ptr error_;
};

}  // namespace

void run_call(const sg_call* call, std::size_t memory,
              const std::function<void(const Execution& execution)>& work) {
  Execution execution;
  execution.memory = memory;
  if (call == nullptr) return work(execution);
  if (call->size != sizeof(sg_call))
    throw UsageError(
        fmt::format("the size of the call is {}, expected {}", call->size, sizeof(sg_call)));
  if (call->threads < 0 || call->threads > kMostThreads)
    throw UsageError(fmt::format("{} threads, expected 0 to {}", call->threads, kMostThreads));
  execution.threads = call->threads;
  if (call->memory != 0) execution.memory = static_cast<std::size_t>(call->memory);
  if (call->progress == nullptr) return work(execution);
  Watched(*call, std::move(execution)).run(work);
}

}  // namespace synergraph::capi
