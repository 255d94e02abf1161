#include "synergraph/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "synergraph/core/error.h"

namespace {
int umask_calls = 0;
}

/// The system's, counted: the mask is the whole process's, and other threads make files meanwhile.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

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
  /// Leaves the temporary file of a process that dies before its file is whole.
  void leave_orphan(const char* name) const {
    const pid_t child = fork();
    if (child == 0) {
      AtomicFile file(path(name));
      file.write("half");
      _exit(0);  // no destructor runs
    }
    waitpid(child, nullptr, 0);
  }
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

TEST_F(AtomicFileTest, HasTheModeOfAnyNewFileAndLeavesTheMaskAlone) {
  for (const mode_t mask : {mode_t{022}, mode_t{027}, mode_t{0}}) {
    const mode_t before = umask(mask);
    umask_calls = 0;
    std::filesystem::remove(path("a.txt"));
    write_file(path("a.txt"), "text");
    EXPECT_EQ(umask_calls, 0);
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat(path("a.txt").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0666U & ~mask);
  }
}

TEST_F(AtomicFileTest, KeepsTheModeOfTheFileThatItReplaces) {
  write_file(path("a.txt"), "old");
  std::filesystem::create_symlink("a.txt", path("link"));
  for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0755}, mode_t{0444}, mode_t{0}}) {
    for (const char* name : {"a.txt", "link"}) {
      ASSERT_EQ(chmod(path("a.txt").c_str(), mode), 0);
      struct stat status {};
      AtomicFile file(path(name));
      // Who writes the file may open it meanwhile, nobody else who could not before.
      ASSERT_EQ(stat(file.temporary_path().c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777U, mode | 0600U);
      file.commit();
      ASSERT_EQ(stat(path("a.txt").c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 0777U, mode);
    }
  }
}

TEST_F(AtomicFileTest, WritesWhatASymbolicLinkNamesAndKeepsTheLink) {
  std::filesystem::create_directories(path("there"));
  std::filesystem::create_symlink("there/real.txt", path("relative"));  // nothing is there yet
  std::filesystem::create_symlink(path("relative"), path("absolute"));
  for (const char* link : {"relative", "absolute"}) {
    write_file(path(link), link);
    EXPECT_TRUE(std::filesystem::is_symlink(path(link)));
    EXPECT_FALSE(std::filesystem::is_symlink(path("there/real.txt")));
    EXPECT_EQ(read_file(path("there/real.txt")), link);
  }
  EXPECT_EQ(files(), 3U);
  std::filesystem::create_symlink("loop", path("loop"));
  EXPECT_THROW(write_file(path("loop"), ""), InputError);
  EXPECT_TRUE(std::filesystem::is_symlink(path("loop")));
}

TEST_F(AtomicFileTest, WritesIntoAPipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(path("pipe")); });
  const std::string text(200000, 'x');  // more than a pipe holds
  write_file(path("pipe"), text);
  reader.join();
  EXPECT_EQ(got, text);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, DoesNotWaitForAPipeThatNoProgramReads) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  try {
    write_file(path("pipe"), "text");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(), path("pipe") + ": cannot write: a pipe that no program reads");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_EQ(files(), 1U);
}

TEST_F(AtomicFileTest, ADeviceThatIsFullIsReported) {
  try {
    write_file("/dev/full", "text");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "/dev/full: cannot write: No space left on device");
  }
  EXPECT_NO_THROW(write_file("/dev/null", "text"));
}

TEST_F(AtomicFileTest, RemovesWhatADeadProcessLeft) {
  leave_orphan("a.npz");
  ASSERT_EQ(files(), 1U);
  const std::string orphan = std::filesystem::directory_iterator(directory_)->path();
  write_file(orphan + ".Ab3xYz", "");  // as libzip names its own temporary file
  write_file(path("b.txt"), "whole");
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read_file(path("b.txt")), "whole");
}

TEST_F(AtomicFileTest, LeavesAloneWhatMayBeInUse) {
  AtomicFile own(path("a.txt"));
  own.write("of this process");
  EXPECT_EQ(files(), 1U);

  // Of a process that seems dead, but holds its lock: it lives in another container.
  leave_orphan("a.txt");
  std::string locked;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    if (entry.path() != own.temporary_path()) locked = entry.path();
  const int descriptor = open(locked.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(descriptor, LOCK_EX | LOCK_NB), 0);

  // The user's own, under names like ours.
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const std::vector<std::string> names = {
      ".synergraph-notes.txt", fmt::format(".synergraph-{}-0123456789abcde.txt", dead),
      fmt::format(".synergraph-{}-0123456789abcdef0.txt", dead),
      fmt::format(".synergraph-{}-0123456789abcdeg.txt", dead),
      fmt::format("synergraph-{}-0123456789abcdef.txt", dead),
      // Of this process, but not locked: libzip has put a new file in its place.
      fmt::format(".synergraph-{}-0123456789abcdef.npz", getpid())};
  for (const std::string& name : names) write_file(path(name.c_str()), "mine");

  write_file(path("b.txt"), "text");
  EXPECT_TRUE(std::filesystem::exists(locked));
  for (const std::string& name : names) EXPECT_TRUE(std::filesystem::exists(path(name.c_str())));
  own.commit();
  EXPECT_EQ(read_file(path("a.txt")), "of this process");

  close(descriptor);
  write_file(path("b.txt"), "text");
  EXPECT_FALSE(std::filesystem::exists(locked));
}

TEST_F(AtomicFileTest, TakesNamesAsLongAsTheSystemDoes) {
  const std::string name = "a." + std::string(253, 'b');
  write_file(path(name.c_str()), "text");
  EXPECT_EQ(read_file(path(name.c_str())), "text");
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
