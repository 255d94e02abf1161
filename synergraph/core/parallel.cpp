#include "synergraph/core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace synergraph {

int default_thread_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
    return CPU_COUNT(&allowed);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::size_t count, int threads,
                  const std::function<void(std::size_t, int)>& body) {
  if (threads <= 0) threads = default_thread_count();
  const auto workers =
      static_cast<int>(std::min<std::size_t>(count, static_cast<std::size_t>(threads)));
  if (workers <= 1) {
    for (std::size_t index = 0; index < count; ++index) body(index, 0);
    return;
  }

  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](int worker) {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t index = next.fetch_add(1);
        if (index >= count) return;
        body(index, worker);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> team;
    team.reserve(static_cast<std::size_t>(workers - 1));
    for (int worker = 1; worker < workers; ++worker) team.emplace_back(work, worker);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace synergraph
