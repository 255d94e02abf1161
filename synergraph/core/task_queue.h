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

/// A queue of tasks with its own threads. The threads take tasks in the order of push(). After one
/// task has thrown, the queue discards all tasks that no thread has taken.
class TaskQueue {
 public:
  explicit TaskQueue(int threads) {
    try {
      for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
    } catch (...) {
      close();  // joins the threads that did start
      throw;
    }
  }
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  ~TaskQueue() { close(); }

  /// Adds a task. Any thread may call push().
  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  /// Waits until all tasks are done, and rethrows the first exception of a task. No push() may
  /// follow.
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
