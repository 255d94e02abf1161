#include "synergraph/core/working_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

// However many ask for it side by side, what is leased never exceeds what there is; a wish for more
// than all gets all.
TEST(WorkingMemory, IsNeverLeasedTwice) {
  const WorkingMemory memory = WorkingMemory(100).shared();
  std::mutex mutex;
  std::size_t used = 0;
  std::size_t most = 0;
  parallel_for(500, 8, [&](std::size_t index, int) {
    const std::size_t wanted = index % 7 == 0 ? 1000 : 1 + index % 60;
    const std::size_t got = std::min<std::size_t>(wanted, 100);
    const WorkingMemory::Lease lease = memory.lease(wanted);
    {
      const std::lock_guard lock(mutex);
      most = std::max(most, used += got);
    }
    const std::lock_guard lock(mutex);
    used -= got;
  });
  EXPECT_LE(most, 100U);
  EXPECT_EQ(used, 0U);
}

TEST(WorkingMemory, OfOneIsAlwaysFree) {
  const WorkingMemory memory(100);
  const WorkingMemory::Lease one = memory.lease(100);
  const WorkingMemory::Lease two = memory.lease(100);
  EXPECT_EQ(memory.bytes(), 100U);
}

}  // namespace
}  // namespace synergraph
