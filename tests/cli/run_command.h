#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "synergraph/io/atomic_file.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {

/// Runs the program in a directory of its own.
class CommandTest : public InTemporaryDirectory {
 protected:
  struct Result {
    int status = 0;
    std::string out;
    std::string err;
  };

  /// `synergraph ARGUMENTS` through a shell.
  Result run(const std::string& arguments) const {
    const std::string line = "cd '" + directory_.string() + "' && " SYNERGRAPH_CLI " " + arguments +
                             " >.stdout 2>.stderr </dev/null";
    const int status = std::system(line.c_str());  // NOLINT: a test's own command line
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(path(".stdout")),
            read_file(path(".stderr"))};
  }

  Result expect_success(const std::string& arguments) const {
    Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
    EXPECT_EQ(result.err, "") << arguments;
    return result;
  }

  /// One line on stderr that contains `part`, this status, nothing on stdout and no new file.
  void expect_refused(const std::string& arguments, int status, const std::string& part) const {
    const auto before = files();
    const Result result = run(arguments);
    EXPECT_EQ(result.status, status) << arguments << "\n" << result.err;
    EXPECT_THAT(result.err, testing::HasSubstr(part)) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_EQ(files(), before) << arguments;
  }

 private:
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_))
      if (!entry.path().filename().string().starts_with(".std"))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace synergraph
