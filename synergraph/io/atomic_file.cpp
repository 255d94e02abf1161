#include "synergraph/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/system_error.h"
#include "synergraph/io/temporary_file.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

/// Closes a file at the end of a scope.
struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

void write_all(int descriptor, const void* data, std::size_t size, const std::string& path) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(path, "cannot write");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

/// The open standard stream that writes to this very file, or -1: to replace the file would take
/// it away from whoever reads the stream.
int standard_stream(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(stream, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino)
      return stream;
  }
  return -1;
}

/// The path at the end of a chain of symbolic links, whether or not there is a file.
fs::path without_links(fs::path path) {
  constexpr int most = 40;  // as the system
  std::error_code none;
  for (int k = 0; k < most && fs::is_symlink(path, none); ++k)
    path = path.parent_path() / fs::read_symlink(path, none);
  return path;
}

[[noreturn]] void throw_too_large(const std::string& path, std::size_t limit) {
  throw InputError(fmt::format("{}: larger than the limit of {} bytes", path, limit));
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  const bool there = stat(path_.c_str(), &status) == 0;
  if (there && S_ISDIR(status.st_mode)) errno = EISDIR;
  if (there ? S_ISDIR(status.st_mode) : errno == ELOOP) throw_system_error(path_, "cannot write");
  const bool copied = there && (!S_ISREG(status.st_mode) || standard_stream(status) >= 0);
  std::error_code none;
  const fs::path target = copied ? fs::temp_directory_path(none) / "copied" : without_links(path_);
  if (!copied) target_ = target.string();
  // The name ends as the path does: programs that write the file choose a format by its ending.
  const Temporary temporary = make_temporary(target.parent_path(), fs::path(path_).extension());
  if (temporary.descriptor < 0) throw_system_error(path_, "cannot write");
  descriptor_ = temporary.descriptor;
  if (there && !copied) {
    mode_ = status.st_mode & 0777U;
    (void)fchmod(descriptor_, *mode_ | S_IRUSR | S_IWUSR);  // some filesystems have no modes
  }
  temporary_path_ = temporary.path;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) {
  write_all(descriptor_, data, size, path_);
}

void AtomicFile::copy_to_target(int from) {
  (void)std::fflush(stdout);  // what was printed before comes before
  struct stat status {};
  const int stream = stat(path_.c_str(), &status) == 0 ? standard_stream(status) : -1;
  const Descriptor to(stream >= 0 ? dup(stream) : open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (to.number < 0) throw_system_error(path_, "cannot write");
  const bool terminal = isatty(to.number) != 0;
  std::string shown;  // whole, as a piece may end within a character
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path_, "cannot write");
    if (got == 0) break;
    if (terminal)
      shown.append(buffer.data(), static_cast<std::size_t>(got));
    else
      write_all(to.number, buffer.data(), static_cast<std::size_t>(got), path_);
  }
  shown = printable_lines(shown);
  write_all(to.number, shown.data(), shown.size(), path_);
}

void AtomicFile::commit() {
  {
    // Another program may have put a new file under the temporary name: that one counts.
    const Descriptor now(open(temporary_path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (now.number < 0) throw_system_error(path_, "cannot write");
    if (target_.empty()) return copy_to_target(now.number);
    if (mode_) (void)fchmod(now.number, *mode_);
    if (fsync(now.number) != 0) throw_system_error(path_, "cannot write");
  }
  if (rename(temporary_path_.c_str(), target_.c_str()) != 0)
    throw_system_error(path_, "cannot write");
  temporary_path_.clear();
  close(descriptor_);
  descriptor_ = -1;
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void check_writable(const std::string& path) {
  const AtomicFile trial(path);  // opens no pipe or device: that is left to commit()
}

bool is_same_file(const std::string& path, const std::string& other) {
  struct stat one {};
  struct stat two {};
  const bool there = stat(path.c_str(), &one) == 0;
  if (there != (stat(other.c_str(), &two) == 0)) return false;
  if (there)
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino &&
           standard_stream(one) < 0;
  std::error_code none;
  const auto spelt_alike = [&](const std::string& name) {
    return fs::weakly_canonical(fs::absolute(without_links(name), none), none);
  };
  return spelt_alike(path) == spelt_alike(other);
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw FileError(fmt::format("{}: cannot make the directory: {}", path, error.message()));
}

std::string read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) throw_system_error(path, "cannot read");
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (;;) {
    const ssize_t got = ::read(file.number, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path, "cannot read");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > limit) throw_too_large(path, limit);
  }
}

std::string read_regular_file(const std::string& path, std::size_t limit) {
  const ByteSourcePtr bytes = open_bytes(path);
  if (bytes->size() > limit) throw_too_large(path, limit);
  return bytes->read_string(0, static_cast<std::size_t>(bytes->size()));
}

}  // namespace synergraph
