#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace synergraph {

/// A test with an empty directory of its own.
class InTemporaryDirectory : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    for (char& c : name) c = c == '/' ? '_' : c;
    directory_ = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::filesystem::path directory_;
};

}  // namespace synergraph
