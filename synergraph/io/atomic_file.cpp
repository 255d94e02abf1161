#include "synergraph/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw InputError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

/// The mode a plain open() would have given; mkstemp gives 0600 to everybody.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    fail(path_, "cannot write");
  }
  // The name ends as the target's does: programs that write the file choose a format by its ending.
  const std::size_t slash = path_.rfind('/');
  const std::size_t dot = path_.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::string ending = has_ending ? path_.substr(dot) : "";
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::string pattern = path_.substr(0, name) + "." + path_.substr(name) + ".XXXXXX" + ending;
  descriptor_ = mkstemps(pattern.data(), static_cast<int>(ending.size()));
  if (descriptor_ < 0) fail(path_, "cannot write");
  temporary_path_ = pattern;
  (void)fchmod(descriptor_, default_mode());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot write");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  // Another program may have put a new file under the temporary name: that one must reach the disk.
  const int now = open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (now < 0) fail(path_, "cannot write");
  const int failed = fsync(now) != 0 ? errno : 0;
  close(now);
  errno = failed;
  if (failed != 0) fail(path_, "cannot write");
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) fail(path_, "cannot write");
  temporary_path_.clear();
  close(descriptor_);
  descriptor_ = -1;
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw InputError(fmt::format("{}: cannot make the directory: {}", path, error.message()));
}

std::string read_file(const std::string& path, std::size_t limit) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot read");
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int reason = errno;
      close(descriptor);
      errno = reason;
      fail(path, "cannot read");
    }
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) {
      close(descriptor);
      throw InputError(fmt::format("{}: larger than the limit of {} bytes", path, limit));
    }
  }
  close(descriptor);
  return text;
}

}  // namespace synergraph
