#include "synergraph/core/task_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

namespace synergraph {
namespace {

TEST(TaskQueue, DoesAllInOrder) {
  std::vector<int> done;
  TaskQueue queue(1);
  for (int k = 0; k < 100; ++k) queue.push([&done, k] { done.push_back(k); });
  queue.finish();
  ASSERT_EQ(done.size(), 100U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(TaskQueue, StopsAtAnErrorAndRethrowsIt) {
  std::vector<int> done;
  TaskQueue queue(1);
  queue.push([&] { done.push_back(1); });
  queue.push([] { throw std::runtime_error("two"); });
  queue.push([&] { done.push_back(3); });
  EXPECT_THROW(queue.finish(), std::runtime_error);
  EXPECT_THAT(done, testing::ElementsAre(1));
}

TEST(TaskQueue, EndsWithWhatIsLeftDone) {
  std::atomic<int> done = 0;
  {
    TaskQueue queue(3);
    for (int k = 0; k < 10; ++k) queue.push([&done] { ++done; });
  }
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace synergraph
