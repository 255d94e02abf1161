#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "synergraph/core/random.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/model/load_model.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/data.h"
#include "tests/support/documents.h"

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
  pid_t start(const std::string& arguments, const std::string& prefix = "",
              const std::string& err = "") const {
    const std::string line = prefix + "exec " SYNERGRAPH_CLI " train " + arguments +
                             " >/dev/null 2>" + (err.empty() ? err_path() : err);
    const pid_t child = fork();
    if (child == 0) {
      // These tests may themselves run under nohup or in a shell's background.
      for (const int signal : {SIGHUP, SIGINT}) std::signal(signal, SIG_DFL);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }
  Result wait(pid_t child, const std::string& err = "") const {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
            err == "/dev/full" ? "" : read_file(err.empty() ? err_path() : err)};
  }
  Result run(const std::string& arguments, const std::string& prefix = "",
             const std::string& err = "") const {
    const testing_support::DocumentWatch watch(root_);
    const Result result = wait(start(arguments, prefix, err), err);
    if (result.status == 0) watch.expect_documents();
    return result;
  }
  static std::string quote(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += (c == '$' || c == '\\' ? "\\" : "") + std::string(1, c);
    return quoted + '"';
  }
  /// Starts a run without an end and waits until it is at work.
  pid_t start_long(const std::string& where, const std::string& settings,
                   const std::string& prefix = "") const {
    const pid_t child = start(settings + "--epochs 1000000 --out " + quote(where), prefix);
    for (int k = 0; k < 2000 && !std::filesystem::exists(where + "/model.safetensors"); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return child;
  }
  /// The fewest epochs to which the run can be continued.
  static std::string next_epoch(const std::string& where) {
    const TrainingRun run = read_run(where);
    const auto per_epoch = static_cast<std::uint64_t>(run.settings.steps_per_epoch());
    return std::to_string((run.position.step + per_epoch - 1) / per_epoch);
  }
  /// A file of tokens 0 to 11.
  std::string tokens(const std::string& name, Shape shape, std::int64_t step) const {
    std::vector<std::int64_t> values;
    for (std::int64_t k = 0; k < shape[0] * shape[1]; ++k) values.push_back(k * step % 12);
    write_npy(path(name), tensor_data("", std::move(shape), values.data()));
    return path(name);
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
  const std::string small_pairs_ =
      "--vocabulary 12 --width 8 --hidden 8 --heads 2 --layers 1 --threads 2 ";
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
            4);  // no temporary files are left
}

TEST_F(TrainCommandTest, SignalsLeaveACheckpointToContinueFrom) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string where = path("signal" + std::to_string(signal));
    const pid_t child = start_long(where, small_);
    kill(child, signal);
    const Result result = wait(child);
    EXPECT_EQ(result.status, -signal);
    EXPECT_THAT(result.err, HasSubstr("continue with: synergraph train --resume --out " + where));
    const Result next = run("--resume --quiet --epochs " + next_epoch(where) + " --out " + where);
    EXPECT_EQ(next.status, 0) << next.err;
  }
}

TEST_F(TrainCommandTest, GoesOnAfterTheTerminalUnderNohupAndAfterCtrlCInTheBackground) {
  const pid_t child = start_long(path("run"), small_, "trap '' HUP INT; ");
  for (const int ignored : {SIGHUP, SIGINT}) {
    kill(child, ignored);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  }
  kill(child, SIGTERM);
  EXPECT_EQ(wait(child).status, -SIGTERM);
}

TEST_F(TrainCommandTest, NeverSucceedsWhenStopped) {
  const pid_t child = start_long(path("run"), small_, "trap '' TERM; ");
  kill(child, SIGTERM);
  EXPECT_EQ(wait(child).status, -SIGTERM);
}

TEST_F(TrainCommandTest, ASecondSignalEndsItAtOnce) {
  // One step of hours: it never gets to look at the first signal.
  const pid_t child = start(
      "--heads 8 --layers 8 --width 512 --hidden 2048 --vocabulary 100 --length 1000 --sequences "
      "5000 --batch 5000 --quiet --threads 1 --out " +
      path("run"));
  for (int k = 0; k < 2000 && !std::filesystem::exists(path("run") + "/synergraph.lock"); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // Two in a moment are one request, as timeout(1) sends it.
  for (int k = 0; k < 2; ++k) {
    kill(child, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  kill(child, SIGINT);
  EXPECT_EQ(wait(child).status, -SIGINT);
}

TEST_F(TrainCommandTest, SaysHowToContinueInWordsThatAShellReadsAsMeant) {
  std::filesystem::create_directories(path("it's $HOME"));
  const std::string x = tokens("it's $HOME/x.npy", {12, 5}, 1);
  const std::string y = tokens("it's $HOME/y.npy", {12, 5}, 2);
  const std::string where = path("it's $HOME/run");
  const std::string pairs = "--data " + quote(x) + " --targets " + quote(y);
  const std::string judges = " --validation " + quote(y) + " " + quote(x);
  const pid_t child = start_long(where, small_pairs_ + pairs + judges + " --quiet ");
  kill(child, SIGTERM);
  const Result stopped = wait(child);
  ASSERT_EQ(stopped.status, -SIGTERM);
  EXPECT_EQ(std::count(stopped.err.begin(), stopped.err.end(), '\n'), 1) << stopped.err;
  const std::string marker = "continue with: synergraph train ";
  const std::size_t from = stopped.err.find(marker);
  ASSERT_NE(from, std::string::npos) << stopped.err;
  std::string words = stopped.err.substr(from + marker.size());
  words.pop_back();
  const Result next = run(words + " --quiet --epochs " + next_epoch(where));
  EXPECT_EQ(next.status, 0) << words << '\n' << next.err;

  // It is one line, whatever the name.
  const pid_t other = start_long(path("a\n'\\\x1b\xff"), small_);
  kill(other, SIGTERM);
  EXPECT_THAT(wait(other).err, testing::EndsWith("/a\\012\\'\\\\\\033\\377'\n"));
}

TEST_F(TrainCommandTest, OnlyOneTrainsInADirectory) {
  const std::string where = path("run");
  const pid_t child = start_long(where, small_);
  const Result second = run("--resume --quiet --out " + where, "", path("second.txt"));
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr(where + ": another run is at work in this directory"));
  kill(child, SIGTERM);
  EXPECT_EQ(wait(child).status, -SIGTERM);
  EXPECT_FALSE(std::filesystem::exists(where + "/synergraph.lock"));
  EXPECT_EQ(run("--resume --quiet --epochs " + next_epoch(where) + " --out " + where).status, 0);
}

TEST_F(TrainCommandTest, AStderrThatCannotBeWrittenStopsNothing) {
  std::string settings = small_ + "--epochs 2 --out ";
  settings.erase(settings.find("--quiet "), 8);
  EXPECT_EQ(run(settings + path("full"), "", "/dev/full").status, 0);
  // A pipe whose reader has gone.
  const std::string line = "( sleep 0.1; " SYNERGRAPH_CLI " train " + settings + path("pipe") +
                           " 2>&1 >/dev/null; echo $? >" + path("status") + " ) | true";
  ASSERT_EQ(std::system(line.c_str()), 0);  // NOLINT: the test's own words
  EXPECT_EQ(read_file(path("status")), "0\n");
  EXPECT_EQ(read_file(path("pipe/model.safetensors")), read_file(path("full/model.safetensors")));
}

TEST_F(TrainCommandTest, ResumingNothingSaysThatItStarts) {
  const std::string out = "--quiet --epochs 1 --resume --out " + path("run");
  EXPECT_EQ(run(small_ + out).err, path("run") + ": no run there: starting one\n");
  EXPECT_EQ(run(out).err, "");
}

TEST_F(TrainCommandTest, TrackingSurvivesAResume) {
  const std::string out = "--quiet --out " + path("run");
  ASSERT_EQ(run(small_ + "--track 1 --epochs 1 " + out).status, 0);
  ASSERT_EQ(run("--resume --epochs 2 " + out).status, 0);
  ASSERT_EQ(run("--resume --track 0 --epochs 3 " + out).status, 0);
  ASSERT_EQ(run("--resume --epochs 4 " + out).status, 0);
  std::istringstream lines(read_file(path("run/metrics.jsonl")));
  std::vector<bool> tracked;
  for (std::string line; std::getline(lines, line);)
    tracked.push_back(line.find("\"layers\"") != std::string::npos);
  EXPECT_EQ(tracked, (std::vector<bool>{true, true, false, false}));
}

TEST_F(TrainCommandTest, FewerEpochsThanTheRunHasBegunAreRefused) {
  const std::string out = "--quiet --out " + path("run");
  ASSERT_EQ(run(small_ + "--epochs 3 " + out).status, 0);
  std::map<std::string, std::string> before;
  for (const auto& entry : std::filesystem::directory_iterator(path("run")))
    before[entry.path()] = read_file(entry.path());
  const Result result = run("--resume --epochs 2 " + out);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("the run is in or after epoch 3: epochs cannot be 2"));
  for (const auto& entry : std::filesystem::directory_iterator(path("run")))
    EXPECT_EQ(before[entry.path()], read_file(entry.path())) << entry.path();
  EXPECT_EQ(run("--resume --epochs 3 " + out).status, 0);
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

TEST_F(TrainCommandTest, PromotesWhatIsAskedForAndRefusesTheRest) {
  expect_refused(small_ + "--promote fidelity=nan", 2,
                 "--promote: the strength of fidelity is 'nan', expected a number from -1e+06");
  expect_refused(small_ + "--promote mixing=1", 2, "--promote: unknown metric 'mixing'");
  expect_refused(small_ + "--promote speed=1 --promote speed=1", 2, "speed is given twice");
  expect_refused(small_ + "--promote speed", 2, "expected NAME=STRENGTH");
  expect_refused(small_ + "--promote fidelity=0.1,speed=0.1", 2, "strength of fidelity is");
  expect_refused(small_ + "--promote speed=1 --device cuda", 2,
                 "cuda: --promote trains on the CPU only; give --device cpu");
  expect_refused("--task copy --length 1 --promote speed=1", 2, "sequences of one token");
  const Result result = run(small_ +
                            "--epochs 2 --promote fidelity=-0.5 --promote speed=0.25 "
                            "--device auto --out " +
                            path("both"));
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string log = read_file(log_path(path("both")));
  const auto line = nlohmann::json::parse(log.substr(0, log.find('\n')));
  EXPECT_GT(line["promoted"]["fidelity"], 0.0);
  EXPECT_LT(line["promoted"]["speed"], 0.0);
  EXPECT_EQ(line["promoted"]["left_out"], 0);
  // Settings that are not given are those of the run.
  EXPECT_EQ(run("--resume --epochs 3 --quiet --out " + path("both")).status, 0);
  EXPECT_EQ(read_settings(path("both")).promote,
            (std::vector<std::string>{"fidelity=-0.5", "speed=0.25"}));
}

TEST_F(TrainCommandTest, BadUsageIsOneLineAndTouchesNothing) {
  expect_refused("--heads 5", 2, "5 heads do not divide the width 64");
  expect_refused("--layers 0", 2, "layers must be between 1 and");
  expect_refused("--vocabulary 0", 2, "vocabulary must be between 1 and");
  expect_refused("--batch 6000", 2, "batch must be between 1 and 5000, not 6000");
  expect_refused("--dropout 1", 2, "dropout must be in [0, 1), not 1");
  expect_refused("--learning-rate 0", 2, "--learning-rate must be positive, not 0");
  expect_refused("--task sort", 2, "unknown task 'sort': expected one of copy, cycle, zero");
  expect_refused("--data x.npy", 2, "--data requires --targets");
  expect_refused("--heads two", 2, "--heads: expected a whole number of at least 0, got 'two'");
  EXPECT_EQ(run("--task copy").status, 2);  // no --out
  const Result nowhere = run("--task copy --out ''");
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--out: the value is empty"));
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

TEST_F(TrainCommandTest, OwnPairsAreJudgedByWhatTheLogSays) {
  const std::string pairs = "--data " + tokens("x.npy", {12, 5}, 1) + " --targets " +
                            tokens("y.npy", {12, 5}, 7) + " --quiet ";
  const std::string judges =
      "--validation " + tokens("x2.npy", {7, 5}, 5) + " " + tokens("y2.npy", {7, 5}, 11) + " ";
  const auto last_line = [&](const char* name) {
    const std::string log = read_file(path(name) + "/metrics.jsonl");
    return nlohmann::json::parse(log.substr(log.rfind('\n', log.size() - 2) + 1));
  };

  ASSERT_EQ(run(small_pairs_ + pairs + "--epochs 2 --out " + path("trained")).status, 0);
  const auto trained = last_line("trained");
  EXPECT_TRUE(trained.contains("training_pairs_accuracy"));
  EXPECT_FALSE(trained.contains("held_out_accuracy"));

  const std::string out = "--out " + path("judged");
  ASSERT_EQ(run(small_pairs_ + pairs + judges + "--epochs 2 " + out).status, 0);
  const auto judged = last_line("judged");
  EXPECT_FALSE(judged.contains("training_pairs_loss"));
  const Model model = load_model(TensorFile::open(path("judged") + "/model.safetensors"));
  EXPECT_EQ(judged["held_out_loss"],
            evaluate(model, read_sequences(path("x2.npy")), read_sequences(path("y2.npy"))).loss);
  // What it is judged by does not change the model, and is not forgotten.
  EXPECT_EQ(read_file(path("judged") + "/state.safetensors"),
            read_file(path("trained") + "/state.safetensors"));
  EXPECT_THAT(run("--resume --epochs 3 " + pairs + out).err,
              HasSubstr("give them again with --validation"));
  EXPECT_EQ(run("--resume --epochs 3 " + pairs + judges + out).status, 0);

  expect_refused(small_pairs_ + pairs + "--validation " + path("x2.npy") + " " + path("y.npy"), 1,
                 "shape (12, 5), but " + path("x2.npy") + " has shape (7, 5)");
  const std::string longer = tokens("long.npy", {3, 6}, 1);
  expect_refused(small_pairs_ + pairs + "--validation " + longer + " " + longer, 1,
                 "validation inputs: sequences of length 6, the model has length 5");
  expect_refused(small_ + "--validation " + path("x2.npy") + " " + path("y2.npy"), 2,
                 "--validation requires --data");
}

TEST_F(TrainCommandTest, AFullDiskAndAnUnwritableDirectoryAreReported) {
  // A limit on the size of files stands in for a full disk.
  Result result = run(small_ + "--epochs 2 --out " + path("full"), "ulimit -f 4; ");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("state.safetensors: cannot write: File too large"));
  for (const auto& entry : std::filesystem::directory_iterator(path("full")))
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("run.json", "metrics.jsonl"));

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
