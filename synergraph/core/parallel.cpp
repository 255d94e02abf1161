#include "synergraph/core/parallel.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace synergraph {
namespace {

/// How often a thread looks for news before it goes to sleep: some ten microseconds.
constexpr int kLooks = 1000;

void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// One call of parallel_for.
class Job {
 public:
  Job(std::size_t count, int workers, const std::function<void(std::size_t, int)>& body)
      : count_(count), workers_(workers), body_(body) {}

  /// Takes indices until none is left or a body has failed.
  void work(int worker) {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= count_) return;
      try {
        body_(index, worker);
      } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        failed_ = true;
        if (index < failed_index_) failure_ = std::current_exception();
        failed_index_ = std::min(failed_index_, index);
      }
    }
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  // The rest belongs to the team, which calls it with its mutex locked.
  bool wants_help() const {
    return joined_ < workers_ && next_.load(std::memory_order_relaxed) < count_;
  }
  int join() {
    helpers_.fetch_add(1, std::memory_order_relaxed);
    return joined_++;
  }
  void leave() { helpers_.fetch_sub(1, std::memory_order_release); }
  bool has_helpers() const { return helpers_.load(std::memory_order_acquire) > 0; }

 private:
  std::size_t count_;
  int workers_;
  const std::function<void(std::size_t, int)>& body_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::size_t failed_index_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
  int joined_ = 1;  // the caller is worker 0
  std::atomic<int> helpers_{0};
};

/// The threads that help the callers of parallel_for. They wait for the next call; any number of
/// calls, also one within another's body, may be under way, for a caller never waits for help.
class Team {
 public:
  /// The process's team. A forked child has none of its parent's threads, so it gets a new one.
  /// Teams are never destroyed: their threads sleep when the process ends.
  static Team& instance() {
    static std::atomic<Team*> current{nullptr};
    Team* team = current.load(std::memory_order_acquire);
    if (team != nullptr && team->process_ == getpid()) return *team;
    auto* fresh = new Team;
    if (current.compare_exchange_strong(team, fresh)) return *fresh;
    delete fresh;
    return *team;
  }

  void run(Job& job, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ += helpers;
      if (wanted_ > threads_)
        grow(std::max(helpers, std::min(wanted_, default_thread_count() - 1)));
      jobs_.push_back(&job);
      posted_.fetch_add(1, std::memory_order_release);
    }
    for (int k = 0; k < helpers; ++k) news_.notify_one();
    job.work(0);
    {
      const std::lock_guard lock(mutex_);
      jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
      wanted_ -= helpers;
    }
    for (int look = 0; look < kLooks && job.has_helpers(); ++look) pause_a_moment();
    if (!job.has_helpers()) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !job.has_helpers(); });
  }

 private:
  /// Starts threads until there are `size`, or as many as the system allows.
  void grow(int size) {
    try {
      for (; threads_ < size; ++threads_) std::thread([this] { help(); }).detach();
    } catch (const std::exception&) {
      return;  // fewer hands do the same work
    }
  }

  Job* find_job() const {
    for (Job* job : jobs_)
      if (job->wants_help()) return job;
    return nullptr;
  }

  [[noreturn]] void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (Job* job = find_job()) {
        const int worker = job->join();
        lock.unlock();
        job->work(worker);
        lock.lock();
        job->leave();  // its caller may now be gone
        done_.notify_all();
        continue;
      }
      const unsigned seen = posted_.load(std::memory_order_relaxed);
      lock.unlock();
      for (int look = 0; look < kLooks && posted_.load(std::memory_order_acquire) == seen; ++look)
        pause_a_moment();
      lock.lock();
      news_.wait(lock, [&] { return posted_.load(std::memory_order_relaxed) != seen; });
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable news_;  ///< a job has come
  std::condition_variable done_;  ///< a job has lost its helpers
  std::atomic<unsigned> posted_{0};
  std::vector<Job*> jobs_;
  int threads_ = 0;
  int wanted_ = 0;  ///< helpers of all calls under way; more than there are CPUs help nobody
};

}  // namespace

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
  Job job(count, workers, body);
  Team::instance().run(job, workers - 1);
  job.rethrow_failure();
}

}  // namespace synergraph
