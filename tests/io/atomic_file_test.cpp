#include "synergraph/io/atomic_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const char* name) const { return (directory_ / name).string(); }
  std::size_t files() const {
    const std::filesystem::directory_iterator entries(directory_);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  std::filesystem::path directory_;
};

TEST_F(AtomicFileTest, AppearsOnlyWhenCommitted) {
  {
    AtomicFile file(path("a.txt"));
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path("a.txt")));
  }
  EXPECT_EQ(files(), 0U);
  write_file(path("a.txt"), "whole");
  EXPECT_EQ(read_file(path("a.txt")), "whole");
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, KeepsTheOldFileWhenAbandoned) {
  write_file(path("a.txt"), "old");
  { AtomicFile(path("a.txt")).write("new"); }
  EXPECT_EQ(read_file(path("a.txt")), "old");
}

TEST_F(AtomicFileTest, NamesThePathThatFails) {
  try {
    write_file(path("missing/a.txt"), "");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a.txt: cannot write: No such file"),
              std::string::npos);
  }
  EXPECT_THROW(write_file(directory_.string(), ""), InputError);
  EXPECT_THROW(read_file(path("nothing")), InputError);
  EXPECT_THROW(read_file(directory_.string()), InputError);
  write_file(path("long.txt"), "12345");
  EXPECT_THROW(read_file(path("long.txt"), 4), InputError);
}

}  // namespace
}  // namespace synergraph
