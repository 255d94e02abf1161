#include "synergraph/io/directory_lock.h"

#include <gtest/gtest.h>

#include <optional>

#include "synergraph/io/atomic_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/temporary_directory.h"

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
