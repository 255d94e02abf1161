#pragma once

// Runs the synergraph program as a user would, through a shell, in a directory of the test's own.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/documents.h"

namespace synergraph::testing_support {

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

/// A test with an empty directory, removed afterwards.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("synergraph-") + info->test_suite_name() + "-" + info->name() + "-" +
                  std::to_string(getpid()));  // the same test may run elsewhere, too
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  bool exists(const std::string& name) const { return std::filesystem::exists(directory_ / name); }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  /// `synergraph ARGUMENTS` in the test's directory.
  Outcome run(const std::string& arguments) const {
    const std::string command = "cd '" + directory_.string() + "' && '" + program_path() + "' " +
                                arguments + " >.stdout 2>.stderr";
    const DocumentWatch watch(directory_);
    const int status = std::system(command.c_str());  // NOLINT: the test's own words
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".stdout"), read(".stderr")};
    std::filesystem::remove(directory_ / ".stdout");
    std::filesystem::remove(directory_ / ".stderr");
    if (outcome.status == 0) watch.expect_documents(outcome.out);
    return outcome;
  }

  /// The program must refuse: this status, one line on stderr with this text, nothing on stdout, no
  /// new file.
  void expect_refusal(const std::string& arguments, int status, const std::string& message) const {
    const auto count = [&] {
      return std::distance(std::filesystem::directory_iterator(directory_),
                           std::filesystem::directory_iterator());
    };
    const auto files = count();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << '\n' << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << arguments << '\n' << outcome.err;
    EXPECT_EQ(outcome.err.rfind("synergraph: ", 0), 0U) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(count(), files) << arguments << " left a file behind";
  }

  std::filesystem::path directory_;
};

}  // namespace synergraph::testing_support
