#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace synergraph {

/// Tasks that threads of its own take in the order in which they come. After one has thrown, those
/// that nobody has taken are left undone.
class TaskQueue {
 public:
  explicit TaskQueue(int threads) {
    try {
      for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
    } catch (...) {
      close();  // those that could be started
      throw;
    }
  }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  ~TaskQueue() { close(); }

  /// From any thread.
  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  /// Waits until all is done, and rethrows what was thrown. Nothing is to be pushed any more.
  void finish() {
    close();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        if (error_) continue;
      }
      try {
        task();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool closed_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace synergraph
