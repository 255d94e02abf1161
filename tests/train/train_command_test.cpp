#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "synergraph/core/random.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

struct Result {
  int status = 0;   ///< exit status, or minus the signal
  std::string err;  ///< stderr
};

class TrainCommandTest : public testing::Test {
 protected:
  TrainCommandTest() {
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("train_command_") +
             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~TrainCommandTest() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  std::string err_path() const { return path("stderr.txt"); }

  /// Starts `synergraph train` with arguments separated by blanks, perhaps through a shell prefix.
  pid_t start(const std::string& arguments, const std::string& prefix = "") const {
    const std::string line =
        prefix + "exec " SYNERGRAPH_CLI " train " + arguments + " >/dev/null 2>" + err_path();
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }
  Result wait(pid_t child) const {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), read_file(err_path())};
  }
  Result run(const std::string& arguments, const std::string& prefix = "") const {
    return wait(start(arguments, prefix));
  }
  /// One line on stderr with this text, this exit status, and no output directory.
  void expect_refused(const std::string& arguments, int status, const std::string& text) const {
    const Result result = run(arguments + " --out " + path("refused"));
    EXPECT_EQ(result.status, status) << arguments;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("refused"))) << arguments;
  }

  const std::string small_ =
      "--task cycle --heads 2 --layers 1 --width 8 --hidden 8 --vocabulary 10 --length 9 "
      "--sequences 90 --batch 10 --seed 3 --quiet --threads 2 ";
  std::filesystem::path root_;
};

TEST_F(TrainCommandTest, KilledTenTimesAndResumedItEndsInTheSameBytes) {
  const std::string settings = small_ + "--epochs 12 --checkpoint-every 0 --out ";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run(settings + path("whole")).status, 0);
  const auto whole = std::chrono::steady_clock::now() - begin;

  RandomSequence draws(1, Purpose::kTest);
  int killed = 0;
  for (int k = 0; k < 10; ++k) {
    const pid_t child = start(settings + path("killed") + " --resume");
    std::this_thread::sleep_for(whole * (0.02 + 0.15 * draws.uniform()));
    kill(child, SIGKILL);
    if (wait(child).status == -SIGKILL) ++killed;
  }
  EXPECT_GE(killed, 1);
  const Result last = run(settings + path("killed") + " --resume");
  EXPECT_EQ(last.status, 0) << last.err;
  for (const char* name : {"/model.safetensors", "/state.safetensors"})
    EXPECT_EQ(read_file(path("killed") + name), read_file(path("whole") + name)) << name;
  const auto lines = [&](const char* run_name) {
    const std::string log = read_file(path(run_name) + "/metrics.jsonl");
    return std::count(log.begin(), log.end(), '\n');
  };
  EXPECT_EQ(lines("killed"), 12);
  EXPECT_EQ(lines("whole"), 12);
  const std::filesystem::directory_iterator files(path("killed"));
  EXPECT_EQ(std::distance(std::filesystem::begin(files), std::filesystem::end(files)),
            3);  // no temporary files are left
}

TEST_F(TrainCommandTest, SignalsLeaveACheckpointToContinueFrom) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string where = path(signal == SIGINT ? "interrupted" : "terminated");
    const pid_t child = start(small_ + "--epochs 1000000 --out " + where);
    for (int k = 0; k < 1000 && !std::filesystem::exists(where + "/model.safetensors"); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(child, signal);
    const Result result = wait(child);
    EXPECT_EQ(result.status, -signal);
    EXPECT_THAT(result.err, HasSubstr("continue with: synergraph train --resume --out " + where));
    const Result next = run("--resume --quiet --epochs 0 --out " + where);
    EXPECT_EQ(next.status, 0) << next.err;
  }
}

TEST_F(TrainCommandTest, ResumingTakesTheSettingsOfTheRunAndRefusesOthers) {
  const std::string out = "--quiet --out " + path("run");
  ASSERT_EQ(run(small_ + "--epochs 2 " + out).status, 0);
  const std::string before = read_file(path("run") + "/state.safetensors");
  Result result = run("--resume --heads 4 " + out);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("the run has heads 2, not 4"));
  result = run("--resume --width 16 " + out);
  EXPECT_THAT(result.err, HasSubstr("the run has width 8, not 16"));
  result = run(small_ + "--epochs 2 " + out);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("already holds a run"));
  EXPECT_EQ(read_file(path("run") + "/state.safetensors"), before);

  ASSERT_EQ(run("--resume --epochs 4 " + out).status, 0);
  ASSERT_EQ(run(small_ + "--epochs 4 --out " + path("whole")).status, 0);
  EXPECT_EQ(read_file(path("run") + "/state.safetensors"),
            read_file(path("whole") + "/state.safetensors"));
}

TEST_F(TrainCommandTest, BadUsageIsOneLineAndTouchesNothing) {
  expect_refused("--heads 5", 2, "5 heads do not divide the width 64");
  expect_refused("--layers 0", 2, "layers must be between 1 and");
  expect_refused("--vocabulary 0", 2, "vocabulary must be between 1 and");
  expect_refused("--batch 6000", 2, "batch must be between 1 and 5000, not 6000");
  expect_refused("--dropout 1", 2, "dropout must be in [0, 1), not 1");
  expect_refused("--learning-rate 0", 2, "learning rate must be positive, not 0");
  expect_refused("--task sort", 2, "unknown task 'sort': expected one of copy, cycle, zero");
  expect_refused("--data x.npy", 2, "--data requires --targets");
  expect_refused("--heads two", 2, "Could not convert: --heads = two");
  EXPECT_EQ(run("--task copy").status, 2);  // no --out
}

TEST_F(TrainCommandTest, TrainsOnTheUsersOwnPairs) {
  const auto write = [&](const char* name, Shape shape, const std::vector<std::int64_t>& tokens) {
    write_npy(path(name), tensor_data("", std::move(shape), tokens.data()));
    return path(name);
  };
  std::vector<std::int64_t> tokens;
  for (std::int64_t k = 0; k < 60; ++k) tokens.push_back(k * 7 % 12);
  const std::string x = write("x.npy", {12, 5}, tokens);
  const std::string y = write("y.npy", {12, 5}, {tokens.rbegin(), tokens.rend()});
  const std::string short_y = write("short.npy", {10, 6}, tokens);
  const std::string flat = write("flat.npy", {60}, tokens);
  const std::string model = " --width 8 --hidden 8 --heads 2 --layers 1 --epochs 2 --quiet ";

  expect_refused("--data " + x + " --targets " + short_y + model, 1,
                 "shape (10, 6), but " + x + " has shape (12, 5)");
  expect_refused("--data " + x + " --targets " + flat + model, 1,
                 "expected tokens of shape (sequences, length), found (60,)");
  expect_refused("--data " + x + " --targets " + y + model + "--vocabulary 11", 1,
                 "token 11 is outside the vocabulary 0..10");
  expect_refused("--data " + x + " --targets " + y + model + "--length 6", 1,
                 "sequences of length 5, the model has length 6");
  expect_refused("--data missing.npy --targets " + y + model, 1, "missing.npy");

  const std::string out = "--out " + path("run");
  const std::string pairs = "--data " + x + " --targets " + y;
  ASSERT_EQ(run(pairs + model + "--vocabulary 12 " + out).status, 0);
  EXPECT_THAT(run("--resume --quiet " + out).err, HasSubstr("give them again with --data"));
  EXPECT_THAT(run("--resume --quiet --data " + y + " --targets " + x + " " + out).err,
              HasSubstr("the run has other training data"));
  EXPECT_EQ(run("--resume --quiet --epochs 3 " + pairs + " " + out).status, 0);
}

TEST_F(TrainCommandTest, AFullDiskAndAnUnwritableDirectoryAreReported) {
  // A limit on the size of files stands in for a full disk.
  Result result = run(small_ + "--epochs 2 --out " + path("full"), "trap '' XFSZ; ulimit -f 4; ");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("state.safetensors: cannot write: File too large"));
  EXPECT_FALSE(std::filesystem::exists(path("full") + "/state.safetensors"));

  write_file(path("file"), "not a directory");
  result = run(small_ + "--out " + path("file") + "/run");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot make the directory: Not a directory"));
  EXPECT_EQ(read_file(path("file")), "not a directory");

  result = run(small_ + "--out /proc/run");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot make the directory"));
}

}  // namespace
}  // namespace synergraph
