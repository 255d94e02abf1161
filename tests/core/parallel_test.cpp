#include "synergraph/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnceForAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 7}) {
    for (const std::size_t count : {0U, 1U, 5U, 1000U}) {
      std::vector<std::atomic<int>> visits(count);
      parallel_for(count, threads, [&](std::size_t index, int worker) {
        EXPECT_GE(worker, 0);
        if (threads > 0) {
          EXPECT_LT(worker, threads);
        }
        visits[index].fetch_add(1);
      });
      for (const auto& visit : visits) EXPECT_EQ(visit.load(), 1);
    }
  }
}

TEST(ParallelFor, RethrowsTheFailureOfABody) {
  for (const int threads : {1, 4}) {
    EXPECT_THROW(parallel_for(100, threads,
                              [](std::size_t index, int) {
                                if (index == 17) throw InputError("seventeen");
                              }),
                 InputError);
  }
}

TEST(ParallelFor, RethrowsTheFirstFailureInOrder) {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 100; ++repeat) {
      try {
        parallel_for(50, threads, [](std::size_t index, int) {
          if (index >= 20) throw InputError(std::to_string(index));
        });
        FAIL();
      } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "20");
      }
    }
  }
}

TEST(ParallelFor, WorksAfterAFailure) {
  EXPECT_THROW(parallel_for(10, 3, [](std::size_t, int) { throw InputError("all"); }), InputError);
  std::atomic<int> visits{0};
  parallel_for(10, 3, [&](std::size_t, int) { visits.fetch_add(1); });
  EXPECT_EQ(visits.load(), 10);
}

TEST(ParallelFor, MayBeCalledWithinABody) {
  std::vector<std::atomic<int>> visits(200);
  parallel_for(20, 4, [&](std::size_t outer, int) {
    parallel_for(10, 3, [&](std::size_t inner, int worker) {
      EXPECT_LT(worker, 3);
      visits[outer * 10 + inner].fetch_add(1);
    });
  });
  for (const auto& visit : visits) EXPECT_EQ(visit.load(), 1);
}

TEST(ParallelFor, CallsWithinABodyGetHelpAsWell) {
  if (default_thread_count() < 4) GTEST_SKIP() << "needs four CPUs";
  // Two times two threads that only go on when all four are there.
  std::atomic<int> present{0};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(2, 2, [&](std::size_t, int) {
    parallel_for(2, 2, [&](std::size_t, int) {
      present.fetch_add(1);
      while (present.load() < 4 && std::chrono::steady_clock::now() < limit)
        std::this_thread::yield();
    });
  });
  EXPECT_LT(std::chrono::steady_clock::now(), limit);
}

TEST(ParallelFor, OneWorkerIsOneThreadAtATime) {
  std::vector<std::atomic<int>> busy(3);
  parallel_for(1000, 3, [&](std::size_t, int worker) {
    const auto index = static_cast<std::size_t>(worker);
    EXPECT_EQ(busy[index].fetch_add(1), 0);
    busy[index].fetch_sub(1);
  });
}

#ifndef __SANITIZE_THREAD__  // which ends a child that starts threads
TEST(ParallelFor, WorksInAForkedChild) {
  const auto total = [] {
    std::atomic<std::size_t> sum{0};
    parallel_for(100, 4, [&](std::size_t index, int) { sum.fetch_add(index); });
    return sum.load();
  };
  EXPECT_EQ(total(), 4950U);
  const pid_t child = fork();
  if (child == 0) _exit(total() == 4950U ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace synergraph
