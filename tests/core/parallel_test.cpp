#include "synergraph/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace synergraph
