// What others may have left in a directory, what memory may be short of, and what may happen while
// the program is at work: links, pipes, huge files, signals, and files that change.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <thread>

#include "synergraph/io/npy.h"
#include "tests/support/run_program.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SYNERGRAPH_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SYNERGRAPH_TEST_SANITIZED
#endif
#endif

namespace synergraph {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_support::Outcome;

/// Longer than any of these commands takes, however busy the machine.
constexpr auto kPatience = std::chrono::seconds(30);

class HardeningTest : public testing_support::ProgramTest {
 protected:
  static std::string program() {
    const char* elsewhere = std::getenv("SYNERGRAPH_PROGRAM");
    return elsewhere != nullptr ? elsewhere : SYNERGRAPH_CLI;
  }

  /// `synergraph ARGUMENTS` after a shell's words, such as "ulimit -v 1000000; ". One that hangs is
  /// ended, with status 124.
  Outcome run_after(const std::string& words, const std::string& arguments) const {
    const std::string command = "cd '" + directory_.string() + "' && { " + words + "timeout 30 '" +
                                program() + "' " + arguments + "; } >.stdout 2>.stderr";
    const int status = std::system(command.c_str());  // NOLINT: the test's own words
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".stdout"), read(".stderr")};
    fs::remove(directory_ / ".stdout");
    fs::remove(directory_ / ".stderr");
    return outcome;
  }
  Outcome run_limited(const std::string& arguments) const { return run_after("", arguments); }

  /// Exit status 1, this text in the one line on stderr, and nothing on stdout.
  static void expect_one_line(const Outcome& outcome, const std::string& text) {
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(text));
    EXPECT_EQ(outcome.err.rfind("synergraph: ", 0), 0U) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  /// Everything in a directory: of a file its number, too, as one that is written anew has another.
  std::map<std::string, std::string> contents(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / name)) {
      struct stat status {};
      EXPECT_EQ(lstat(entry.path().c_str(), &status), 0);
      const std::string inside = entry.path().lexically_relative(directory_).string();
      found[inside] = std::to_string(status.st_ino) + ' ' + std::to_string(status.st_mode) + ' ' +
                      (S_ISREG(status.st_mode) ? read(inside) : "");
    }
    return found;
  }

  fs::file_type type(const std::string& name) const {
    return fs::symlink_status(directory_ / name).type();
  }

  /// Causal attention (samples, heads, tokens, tokens) in which every row is uniform.
  void write_attention(const std::string& name, std::int64_t samples, std::int64_t heads,
                       std::int64_t tokens) const {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(samples * heads * tokens * tokens));
    for (std::int64_t k = 0; k < samples * heads; ++k)
      for (std::int64_t row = 0; row < tokens; ++row)
        for (std::int64_t column = 0; column < tokens; ++column)
          values.push_back(column <= row ? 1.0F / static_cast<float>(row + 1) : 0.0F);
    write_npy(path(name), tensor_data("", {samples, heads, tokens, tokens}, values.data()));
  }

  /// A symbolic link in place of a file: to a file of somebody else's, or to nothing.
  void plant(const std::string& name, const std::string& target) const {
    fs::remove(path(name));
    fs::create_symlink(path(target), path(name));
    write("victim", victim_);
  }
  void expect_victim_stayed() const {
    EXPECT_EQ(read("victim"), victim_);
    EXPECT_FALSE(exists("nowhere"));
    fs::remove(path("nowhere"));  // for what follows
  }

  const std::string victim_ = "what must stay\n";
};

// ---- Links in a study ---------------------------------------------------------------------------

class LinksInAStudy : public HardeningTest {
 protected:
  void SetUp() override {
    HardeningTest::SetUp();
    const Outcome outcome = run_limited(study_);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "study/cells"))
      if (entry.is_directory() && entry.path().filename().string().rfind("copy-2-heads", 0) == 0)
        cell_ = entry.path().lexically_relative(directory_).string();
    ASSERT_NE(cell_, "");
  }

  /// Brings the study back as it was when it was finished.
  void restore() const {
    fs::remove_all(path("study"));
    fs::copy(path("finished"), path("study"), fs::copy_options::recursive);
  }

  /// The cell's result, so that the cell is done.
  std::string result() const {
    for (const auto& entry : fs::directory_iterator(fs::path(path(cell_)).parent_path()))
      if (entry.path().string().find(".result-") != std::string::npos)
        return entry.path().lexically_relative(directory_).string();
    return "";
  }

  /// The cell has to be trained again.
  void undo_cell() const {
    fs::remove(path(result()));
    fs::remove(path("study/cells/merged"));
  }

  /// The study goes on with a link in place of one of its directories, to a directory of somebody
  /// else's: with the files that were there, and with another file alone. Nothing changes behind
  /// the link. `must_refuse`: the program needs that directory.
  void expect_directory_is_not_entered(const std::string& name, bool must_refuse,
                                       const std::function<void()>& prepare) const {
    for (const bool with_files : {false, true}) {
      SCOPED_TRACE(name + (with_files ? " with its files" : " with another file"));
      restore();
      prepare();
      fs::remove_all(path("victim"));
      if (with_files) {
        fs::rename(path(name), path("victim"));
      } else {
        fs::remove_all(path(name));
        fs::create_directory(path("victim"));
      }
      write("victim/other", victim_);
      fs::create_directory_symlink(path("victim"), path(name));
      const auto before = contents("victim");
      const Outcome outcome = run_limited(study_);
      EXPECT_EQ(contents("victim"), before);
      if (must_refuse || outcome.status != 0) expect_one_line(outcome, name + ": a symbolic link");
    }
  }

  const std::string study_ =
      "reproduce --tasks copy --heads 1,2 --seeds 1 --layers 2 --width 8 --hidden 8 --vocabulary "
      "12 --length 8 --sequences 20 --batch 10 --epochs 1 --samples 5 --eps 0.25 --threads 1 "
      "--device cpu --no-figures --quiet --out study";
  std::string cell_;  ///< the directory of the cell with two heads
};

TEST_F(LinksInAStudy, AreReplacedWhereResultsAreWritten) {
  for (const char* file : {"results.json", "report.html", "tables/mixing-copy.csv"}) {
    const std::string name = std::string("study/") + file;
    const std::string text = read(name);
    ASSERT_NE(text, "");
    for (const char* target : {"victim", "nowhere"}) {
      SCOPED_TRACE(name + " to " + target);
      plant(name, target);
      const Outcome outcome = run_limited(study_);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      expect_victim_stayed();
      EXPECT_EQ(type(name), fs::file_type::regular);
      EXPECT_EQ(read(name).size(), text.size());
    }
  }
}

TEST_F(LinksInAStudy, ToTheSameFileLeaveItAsItWas) {  // hard links
  for (const char* file : {"results.json", "report.html", "tables/mixing-copy.csv"}) {
    const std::string name = std::string("study/") + file;
    SCOPED_TRACE(name);
    write("victim", victim_);
    fs::remove(path(name));
    fs::create_hard_link(path("victim"), path(name));
    const Outcome outcome = run_limited(study_);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read("victim"), victim_);
    EXPECT_NE(read(name), victim_);
    EXPECT_EQ(fs::hard_link_count(path("victim")), 1U);
    fs::remove(path("victim"));
  }
}

TEST_F(LinksInAStudy, InPlaceOfItsDirectoriesAreNotEntered) {
  fs::rename(path("study"), path("finished"));
  const auto nothing = [] {};
  const std::string part = fs::path(cell_).parent_path().string();
  for (const std::string& name : {std::string("study/tables"), std::string("study/cells"),
                                  std::string("study/cells/workers"), part})
    expect_directory_is_not_entered(name, true, nothing);
}

TEST_F(LinksInAStudy, InPlaceOfACellsDirectoryAreNotEntered) {
  fs::rename(path("study"), path("finished"));
  expect_directory_is_not_entered(cell_, false, [] {});  // its result is there
  expect_directory_is_not_entered(cell_, true, [this] { undo_cell(); });
}

TEST_F(LinksInAStudy, InPlaceOfACellsFilesAreNotFollowed) {
  fs::rename(path("study"), path("finished"));
  for (const char* file : {"model.safetensors", "state.safetensors", "run.json", "metrics.jsonl"})
    for (const char* target : {"victim", "nowhere"}) {
      const std::string name = cell_ + '/' + file;
      SCOPED_TRACE(name + " to " + target);
      restore();
      undo_cell();
      plant(name, target);
      expect_one_line(run_limited(study_), name + ": a symbolic link");
      expect_victim_stayed();
    }
}

// It could be anybody's, whatever it says: it is set aside, and the cell is done again.
TEST_F(LinksInAStudy, InPlaceOfAResultIsNotBelieved) {
  const std::string name = result();
  const std::string text = read(name);
  fs::rename(path("study"), path("finished"));
  for (const char* target : {"result", "victim", "nowhere"}) {
    SCOPED_TRACE(target);
    restore();
    undo_cell();
    write("result", text);
    plant(name, target);
    const Outcome outcome = run_limited(study_);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(type(name), fs::file_type::regular);
    EXPECT_EQ(type(name + ".damaged"), fs::file_type::symlink);
    EXPECT_EQ(read("result"), text);
    expect_victim_stayed();
  }
}

// ---- Links and pipes in a training's directory --------------------------------------------------

class FilesInARun : public HardeningTest {
 protected:
  /// Trains in a directory in which something lies in place of each of its files, anew and to be
  /// continued.
  void expect_refused(const std::function<void(const std::string&)>& put,
                      const std::string& reason) const {
    for (const char* file : {"model.safetensors", "state.safetensors", "run.json", "metrics.jsonl"})
      for (const char* how : {"", "--resume "}) {
        const std::string name = std::string("run/") + file;
        SCOPED_TRACE(how + name);
        fs::remove_all(path("run"));
        fs::create_directory(path("run"));
        if (*how != '\0') {
          ASSERT_EQ(run_limited(train_ + "--epochs 1").status, 0);
          fs::remove(path(name));
        }
        put(name);
        const auto before = contents("run");
        const auto begin = std::chrono::steady_clock::now();
        expect_one_line(run_limited(train_ + how + "--epochs 2"), name + ": " + reason);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience / 2);
        expect_victim_stayed();
        EXPECT_EQ(contents("run"), before);
      }
  }

  const std::string train_ =
      "train --task copy --heads 2 --layers 1 --width 8 --hidden 8 --vocabulary 10 --length 9 "
      "--sequences 20 --batch 10 --device cpu --threads 1 --quiet --out run ";
};

TEST_F(FilesInARun, ThatAreLinksAreNotFollowed) {
  for (const char* target : {"victim", "nowhere"})
    expect_refused([&](const std::string& name) { plant(name, target); }, "a symbolic link");
}

TEST_F(FilesInARun, ThatArePipesAreNotWaitedFor) {
  expect_refused(
      [&](const std::string& name) {
        write("victim", victim_);
        ASSERT_EQ(mkfifo(path(name).c_str(), 0600), 0);
      },
      "cannot read: not a regular file");
}

// ---- Circles ------------------------------------------------------------------------------------

TEST_F(HardeningTest, LinksInACircleAreSaidToBe) {
  const std::string circle = "the symbolic links lead in a circle";
  for (const char* name : {"loop", "loop.npy", "loop.json", "loop.html", "loop.npz", "loop.txt"})
    fs::create_symlink(name, path(name));
  for (const char* command : {"graph ", "analyze ", "heads ", "inspect "})
    for (const char* name : {"loop", "loop.npy"})
      expect_one_line(run_limited(command + std::string(name)),
                      name + (": cannot read: " + circle));
  expect_one_line(run_limited("convert loop.npy a.npz"), "loop.npy: cannot read: " + circle);

  write_attention("a.npy", 1, 2, 3);
  for (const char* command : {"analyze ", "heads "}) {
    const std::string of = command + std::string("a.npy --threads 1 --quiet ");
    expect_one_line(run_limited(of + "--json loop.json"), "loop.json: cannot write: " + circle);
    expect_one_line(run_limited(of + "--page loop.html"), "loop.html: cannot write: " + circle);
  }
  expect_one_line(run_limited("graph --example 1 --text loop.txt"),
                  "loop.txt: cannot write: " + circle);
  expect_one_line(run_limited("convert a.npy loop.npz"), "loop.npz: cannot write: " + circle);
  for (const char* name : {"loop", "loop.npy", "loop.json", "loop.html", "loop.npz", "loop.txt"})
    EXPECT_EQ(type(name), fs::file_type::symlink) << name;
}

// ---- Memory -------------------------------------------------------------------------------------

class MemoryTest : public HardeningTest {
 protected:
  void SetUp() override {
    HardeningTest::SetUp();
#ifdef SYNERGRAPH_TEST_SANITIZED
    GTEST_SKIP() << "sanitizers take more addresses than the limit";
#endif
  }
};

TEST_F(MemoryTest, OfAGraphIsReckonedBeforeItIsTaken) {
  std::string text = "nodes 16384\n";
  for (int head = 0; head < 8; ++head)
    text += "head h" + std::to_string(head) + "\n0 -> " + std::to_string(head + 1) + "\n";
  write("large.txt", text);
  for (const char* limit : {"", "ulimit -v 2000000; "}) {
    const Outcome outcome = run_after(limit, "graph large.txt");
    expect_one_line(outcome, "MiB of memory");
    EXPECT_THAT(outcome.err, HasSubstr("--memory"));
  }
}

TEST_F(MemoryTest, IsNotTakenByFilesThatAreNotWhatTheyShouldBe) {
  write("huge.unknown", "");
  fs::resize_file(path("huge.unknown"), std::uintmax_t{6} << 30U);  // takes no room on the disk
  const std::string limit = "ulimit -v 1000000; ";
  expect_one_line(run_after(limit, "heads huge.unknown --threads 1"),
                  "huge.unknown: neither attention nor a checkpoint, and larger than the limit");
  for (const char* command : {"analyze", "inspect"})
    expect_one_line(run_after(limit, command + std::string(" huge.unknown")),
                    "huge.unknown: unknown format");
  expect_one_line(run_after(limit, "graph /dev/zero"), "/dev/zero: larger than the limit");
}

// ---- While the program is at work ---------------------------------------------------------------

class AtWork : public HardeningTest {
 protected:
  void TearDown() override {
    if (child_ > 0) (void)end(SIGKILL);  // of a test that has failed
    HardeningTest::TearDown();
  }

  /// Starts the program in the background, after a shell's words, in an environment of this
  /// directory's: temporary files of no other place are in tmp/.
  void start(const std::string& arguments, const std::string& words = "") {
    fs::create_directory(path("tmp"));
    const std::string line = "cd '" + directory_.string() + "' && export TMPDIR='" + path("tmp") +
                             "' && " + words + "exec '" + program() + "' " + arguments +
                             " >tmp/out 2>tmp/err";
    child_ = fork();
    if (child_ == 0) {
      // These tests may themselves run under nohup or in a shell's background.
      for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
  }

  /// Waits for this while the program runs; false where it ends before.
  bool wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      siginfo_t ended{};
      const bool gone =
          waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 &&
          ended.si_pid == child_;
      if (gone || std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// Sends a signal, if any, and gives the exit status, or minus the signal that ended the program.
  int end(int signal = 0) {
    if (signal != 0) kill(child_, signal);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    int status = 0;
    while (waitpid(child_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the program does not end";
        kill(child_, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    child_ = 0;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  /// The hidden files in a directory, and the size of the largest.
  struct Hidden {
    int count = 0;
    std::uintmax_t bytes = 0;
  };
  Hidden hidden(const std::string& where) const {
    Hidden found;
    for (const auto& entry : fs::directory_iterator(path(where))) {
      if (entry.path().filename().string().front() != '.') continue;
      ++found.count;
      std::error_code none;
      const std::uintmax_t bytes = entry.file_size(none);
      if (!none) found.bytes = std::max(found.bytes, bytes);
    }
    return found;
  }

  /// The signal ends the program, and nothing is left of a file under way.
  void expect_nothing_is_left(int signal, const std::string& where, const std::string& output) {
    EXPECT_EQ(end(signal), -signal);
    EXPECT_EQ(hidden(where).count, 0);
    EXPECT_NE(type(output), fs::file_type::regular) << output;
    EXPECT_EQ(read("tmp/err"), "");
    EXPECT_EQ(read("tmp/out"), "");
    fs::remove_all(path("tmp"));
  }

  /// An array of 2 GiB of zeros that takes no room on the disk.
  void write_sparse(const std::string& name) const {
    constexpr std::uintmax_t kElements = std::uintmax_t{1} << 29U;
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(kElements) + ",), }";
    header.resize(117, ' ');
    write(name, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n');
    fs::resize_file(path(name), 128 + 4 * kElements);
  }

  /// Bytes that the program has asked the system for.
  std::uint64_t bytes_read() const {
    std::ifstream counters("/proc/" + std::to_string(child_) + "/io");
    std::string name;
    std::uint64_t count = 0;
    return counters >> name >> count && name == "rchar:" ? count : 0;
  }

  /// Writes another byte into a file while the program is stopped, and puts the time of the file's
  /// last change back, as a careful program may.
  void rewrite_meanwhile(const std::string& name, off_t at) const {
    struct stat before {};
    ASSERT_EQ(stat(path(name).c_str(), &before), 0);
    const int file = open(path(name).c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    kill(child_, SIGSTOP);
    const timespec times[] = {before.st_atim, before.st_mtim};
    struct stat now = before;
    while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == before.st_ctim.tv_nsec) {  // the system's clock has steps
      ASSERT_EQ(pwrite(file, "\x01", 1, at), 1);
      ASSERT_EQ(futimens(file, times), 0);
      ASSERT_EQ(fstat(file, &now), 0);
    }
    kill(child_, SIGCONT);
    close(file);
  }
  void expect_change_is_noticed(const std::string& input, const std::string& output) {
    const int status = end();
    expect_one_line({status, read("tmp/out"), read("tmp/err")},
                    input + ": the file was changed while it was read");
    EXPECT_FALSE(exists(output));
    EXPECT_EQ(hidden(".").count, 0);
  }

  const std::vector<int> signals_ = {SIGINT, SIGTERM, SIGHUP};
  pid_t child_ = 0;
};

TEST_F(AtWork, ASignalLeavesNothingOfAConversion) {
  write_sparse("big.npy");
  for (const char* output : {"out.npz", "out.safetensors"})
    for (const int signal : signals_) {
      SCOPED_TRACE(testing::Message() << output << ", signal " << signal);
      start(std::string("convert big.npy ") + output);
      ASSERT_TRUE(wait_until([&] { return hidden(".").bytes > 0; })) << read("tmp/err");
      expect_nothing_is_left(signal, ".", output);
    }
}

// A pipe that nobody reads holds the program where the page is written, and not yet given.
TEST_F(AtWork, ASignalLeavesNothingOfAPage) {
  write_attention("a.npy", 1, 2, 3);
  ASSERT_EQ(mkfifo(path("page.html").c_str(), 0600), 0);
  for (const int signal : signals_) {
    SCOPED_TRACE(signal);
    start("analyze a.npy --page page.html --threads 1 --quiet");
    ASSERT_TRUE(wait_until([&] { return hidden("tmp").bytes > 0; })) << read("tmp/err");
    EXPECT_EQ(end(signal), -signal);
    EXPECT_EQ(hidden("tmp").count, 0);
    EXPECT_EQ(hidden(".").count, 0);
    EXPECT_EQ(read("tmp/out"), "");
    EXPECT_EQ(read("tmp/err"), "");
    fs::remove_all(path("tmp"));
  }
}

// A gnuplot that never ends holds the program where the figure is drawn.
TEST_F(AtWork, ASignalLeavesNothingOfAFigureNorOfTheProgramThatDrawsIt) {
  fs::create_directory(path("bin"));
  write("bin/gnuplot",
        "#!/bin/sh\n"
        "read -r first || exit 0\n"  // the question whether it is there
        "echo $$ >tmp/begun && mv tmp/begun tmp/drawing\n"
        "exec sleep 60\n");
  fs::permissions(path("bin/gnuplot"), fs::perms::owner_all);
  for (const int signal : signals_) {
    SCOPED_TRACE(signal);
    start("graph --example 2 --figure figure.svg",
          "export PATH='" + path("bin") + "':\"$PATH\" && ");
    ASSERT_TRUE(wait_until([&] { return exists("tmp/drawing"); })) << read("tmp/err");
    EXPECT_EQ(hidden(".").count, 1);
    const pid_t drawing = std::stoi(read("tmp/drawing"));
    expect_nothing_is_left(signal, ".", "figure.svg");
    // Dead, though perhaps nobody has asked how it ended.
    const auto runs = [&] {
      std::ifstream file("/proc/" + std::to_string(drawing) + "/stat");
      std::string number;
      std::string name;
      std::string state;
      return file >> number >> name >> state && state != "Z" && state != "X";
    };
    for (int k = 0; k < 20000 && runs(); ++k)  // a busy machine takes its time
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(runs());
    if (runs()) kill(drawing, SIGKILL);
  }
}

// The program is stopped while it reads, so that the change comes between two of its reads.
TEST_F(AtWork, AFileThatChangesWhileItIsConvertedIsRefused) {
  write_sparse("big.npy");
  start("convert big.npy out.npz");
  ASSERT_TRUE(wait_until([&] { return hidden(".").bytes > 0; })) << read("tmp/err");
  rewrite_meanwhile("big.npy", 128);
  expect_change_is_noticed("big.npy", "out.npz");
}

TEST_F(AtWork, AFileThatChangesWhileItIsMeasuredIsRefused) {
  write_attention("a.npy", 1000, 10, 16);  // every subset of ten heads: a second
  start("heads a.npy --json out.json --threads 1 --quiet");
  ASSERT_TRUE(wait_until([&] { return bytes_read() > fs::file_size(path("a.npy")) / 20; }))
      << read("tmp/err");
  rewrite_meanwhile("a.npy", 128);
  expect_change_is_noticed("a.npy", "out.json");
}

}  // namespace
}  // namespace synergraph
