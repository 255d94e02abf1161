#include "synergraph/io/input_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/io/pipe_patience.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

bool same(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

/// Waits until somebody is, or was, at the other end, and returns what was taken out of the pipe to
/// know that.
std::string wait_for_writer(int pipe, const std::string& path) {
  const auto end = std::chrono::steady_clock::now() + kPipePatience;
  for (;;) {
    pollfd other{pipe, POLLIN, 0};
    if (poll(&other, 1, 0) > 0) return "";
    // There is nothing to read, and nobody has gone. Where there is a writer, a reader that does
    // not wait is told to come again; where there is none, this is the end.
    char byte = 0;
    const ssize_t got = ::read(pipe, &byte, 1);
    if (got != 0) return {&byte, got > 0 ? 1U : 0U};
    if (std::chrono::steady_clock::now() >= end)
      throw FileError(path + ": cannot read: a pipe that no program writes to");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

void FileState::require(int descriptor, const std::string& name) const {
  struct stat now {};
  if (fstat(descriptor, &now) != 0) throw_system_error(name, "cannot read");
  const bool written = now.st_size != status_.st_size || !same(now.st_mtim, status_.st_mtim);
  const bool touched = !same(now.st_ctim, status_.st_ctim) && now.st_nlink == status_.st_nlink;
  if (written || touched)
    throw InputError(name + ": the file was changed while it was read. Run the command again");
}

InputFile::InputFile(const std::string& path) : path_(path) {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_ || fstat(file_.get(), &status_) != 0) throw_system_error(path, "cannot read");
  if (is_pipe()) begin_ = wait_for_writer(file_.get(), path);
  const int flags = fcntl(file_.get(), F_GETFL);
  (void)fcntl(file_.get(), F_SETFL, flags & ~O_NONBLOCK);
}

std::string InputFile::read(std::size_t limit) const {
  std::string text = begin_ + read_to_end(file_.get(), path_, limit);
  if (is_regular()) FileState(status_).require(file_.get(), path_);
  return text;
}

std::string read_to_end(int descriptor, const std::string& name, std::size_t limit) {
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(name, "cannot read");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > limit)
      throw InputError(fmt::format("{}: larger than the limit of {} bytes", name, limit));
  }
}

}  // namespace synergraph
