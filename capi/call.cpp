#include "capi/call.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/execution_settings.h"

namespace synergraph::capi {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::duration kInterval = std::chrono::milliseconds(100);

/// Hears of work, and tells the caller about ten times a second: on the calling thread, which waits
/// for the one that works, or on any that asks whether to stop.
class Watched {
 public:
  Watched(const sg_call& call, Execution execution)
      : call_(call), execution_(std::move(execution)) {
    execution_.stop = [this] { return stopped(); };
    execution_.progress.listener = [this](std::uint64_t done, std::uint64_t total,
                                          const std::string& detail) {
      const std::lock_guard lock(state_mutex_);
      done_ = done;
      total_ = total;
      detail_ = detail;
    };
  }

  void run(const std::function<void(const Execution&)>& work) {
    if (call_.any_thread != 0)
      work(execution_);
    else
      wait(std::async(std::launch::async, [&] { work(execution_); }));
    if (stop_ || told()) throw Stopped();
  }

 private:
  void wait(std::future<void> work) {
    while (work.wait_for(kInterval) != std::future_status::ready)
      if (!stop_ && told()) stop_ = true;
    work.get();
  }

  bool stopped() {
    if (stop_.load(std::memory_order_relaxed) || call_.any_thread == 0) return stop_;
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = last_.load(std::memory_order_relaxed);
    // Of several threads that ask at once, the one that sets the time tells.
    if (now - last < kInterval.count() || !last_.compare_exchange_strong(last, now)) return false;
    if (!telling_.exchange(true)) {
      if (told()) stop_ = true;
      telling_ = false;
    }
    return stop_;
  }

  /// Tells how far it is; whether to stop.
  bool told() {
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
  std::atomic<Clock::rep> last_{Clock::now().time_since_epoch().count()};
  std::atomic<bool> telling_{false};  // one call of the function at a time
  std::mutex state_mutex_;            // of the next three
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::string detail_;
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
  if (!kThreadCounts.contains(call->threads))
    throw UsageError(
        fmt::format("{} threads, expected 0 to {}", call->threads, kThreadCounts.most));
  execution.threads = call->threads;
  if (call->memory != 0) execution.memory = static_cast<std::size_t>(call->memory);
  if (call->progress == nullptr) return work(execution);
  Watched(*call, std::move(execution)).run(work);
}

}  // namespace synergraph::capi
