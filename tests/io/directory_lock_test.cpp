#include "synergraph/io/directory_lock.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "synergraph/io/atomic_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/temporary_directory.h"

namespace {
bool locks_are_missing = false;
}

/// The system's, or that of a filesystem without it.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (!locks_are_missing) return static_cast<int>(syscall(SYS_flock, descriptor, operation));
  errno = ENOSYS;
  return -1;
}

namespace synergraph {
namespace {

using DirectoryLockTest = InTemporaryDirectory;

TEST_F(DirectoryLockTest, IsHeldByOneAndLeavesNothing) {
  const std::string where = directory_.string();
  std::optional<DirectoryLock> first(where);
  for (int k = 0; k < 2; ++k)  // a refused one must not take the lock along
    expect_input_error(where + ": another run is at work in this directory",
                       [&] { const DirectoryLock second(where); });
  first.reset();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  EXPECT_NO_THROW(first.emplace(where));
}

TEST_F(DirectoryLockTest, IsHeldByOneWhileManyComeAndGo) {
  std::atomic<int> holders{0};
  std::atomic<int> taken{0};
  std::atomic<bool> together{false};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const auto work = [&] {
    while (std::chrono::steady_clock::now() < end) {
      try {
        const DirectoryLock lock(directory_.string());
        if (++holders > 1) together = true;
        ++taken;
        std::this_thread::yield();
        --holders;
      } catch (const InputError&) {
        // another has it
      }
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(together);
  EXPECT_GT(taken, 1);
}

TEST_F(DirectoryLockTest, AFilesystemWithoutLocksIsNoObstacle) {
  locks_are_missing = true;
  EXPECT_NO_THROW(DirectoryLock(directory_.string()));
  EXPECT_NO_THROW(write_file(path("a.txt"), "text"));
  locks_are_missing = false;
  EXPECT_EQ(read_file(path("a.txt")), "text");
}

TEST_F(DirectoryLockTest, TheFileThatAKilledHolderLeftIsNoLock) {
  write_file(path("synergraph.lock"), "");
  EXPECT_NO_THROW(DirectoryLock(directory_.string()));
}

TEST_F(DirectoryLockTest, NamesWhatFails) {
  expect_input_error("missing/synergraph.lock: cannot write: No such file",
                     [&] { const DirectoryLock lock(path("missing")); });
}

}  // namespace
}  // namespace synergraph
