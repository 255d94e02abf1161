#include "synergraph/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/input_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/pipe_patience.h"
#include "synergraph/io/system_error.h"
#include "synergraph/io/temporary_file.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

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

/// Opens what is no regular file for writing. A named pipe that no program reads is an error: to
/// open it would wait for ever.
Descriptor open_to_copy(const std::string& path, const struct stat& status) {
  const auto end = std::chrono::steady_clock::now() + kPipePatience;
  for (;;) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (file) {
      const int flags = fcntl(file.get(), F_GETFL);
      (void)fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK);
      return file;
    }
    if (errno != ENXIO || !S_ISFIFO(status.st_mode)) throw_system_error(path, "cannot write");
    if (std::chrono::steady_clock::now() >= end)
      throw FileError(path + ": cannot write: a pipe that no program reads");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

[[noreturn]] void throw_is_directory(const std::string& path) {
  errno = EISDIR;
  throw_system_error(path, "cannot write");
}

}  // namespace

/// The directory in which a file is written, and the names in it.
struct AtomicFile::Place {
  Descriptor directory;
  std::string target;            ///< empty: bytes are copied to the path at the end
  std::optional<unsigned> mode;  ///< permissions of the file that is replaced
  Temporary temporary;           ///< goes before its directory

  /// A name that the user chose; the directory's path.
  fs::path choose_for_user(const std::string& path) {
    struct stat status {};
    const bool there = stat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) throw_is_directory(path);
    if (!there && errno == ELOOP) throw_system_error(path, "cannot write");
    const bool copied = there && (!S_ISREG(status.st_mode) || standard_stream(status) >= 0);
    std::error_code none;
    const fs::path file = copied ? fs::temp_directory_path(none) / "copied" : without_links(path);
    if (!copied) target = file.filename().string();
    if (there && !copied) mode = status.st_mode & 0777U;
    fs::path where = file.parent_path();
    directory.reset(open(where.empty() ? "." : where.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return where;
  }

  /// A name that the program chose. Permissions are taken over from a file of this user's alone:
  /// others could have made one that all may write, or nobody may read.
  fs::path choose_own(const std::string& path) {
    OwnPlace place(path);
    directory = std::move(place.directory);
    target = place.name;
    struct stat status {};
    if (directory && fstatat(directory.get(), target.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISDIR(status.st_mode)) throw_is_directory(path);
      if (S_ISREG(status.st_mode) && status.st_uid == geteuid()) mode = status.st_mode & 0777U;
    }
    return fs::path(path).parent_path();
  }
};

AtomicFile::AtomicFile(std::string path, NamedBy named_by)
    : path_(std::move(path)), place_(std::make_unique<Place>()) {
  const fs::path where =
      named_by == NamedBy::kUser ? place_->choose_for_user(path_) : place_->choose_own(path_);
  if (!place_->directory) throw_system_error(path_, "cannot write");
  // The name ends as the path does, for people who find one that was left.
  place_->temporary = make_temporary(place_->directory.get(), fs::path(path_).extension());
  if (!place_->temporary.file) throw_system_error(path_, "cannot write");
  temporary_path_ =
      (where.empty() ? "." / fs::path(place_->temporary.name) : where / place_->temporary.name)
          .string();
  if (place_->mode)  // some filesystems have no modes
    (void)fchmod(place_->temporary.file.get(), *place_->mode | S_IRUSR | S_IWUSR);
}

AtomicFile::~AtomicFile() {
  if (!temporary_path_.empty())
    (void)unlinkat(place_->directory.get(), place_->temporary.name.c_str(), 0);
}

void AtomicFile::write(const void* data, std::size_t size) {
  write_all(place_->temporary.file.get(), data, size, path_);
}

void AtomicFile::write_at(std::uint64_t offset, const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written =
        pwrite(place_->temporary.file.get(), bytes, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(path_, "cannot write");
    bytes += written;
    offset += static_cast<std::uint64_t>(written);
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::copy_to_target() {
  (void)std::fflush(stdout);  // what was printed before comes before
  struct stat status {};
  const int stream = stat(path_.c_str(), &status) == 0 ? standard_stream(status) : -1;
  const Descriptor to = stream >= 0 ? Descriptor(dup(stream)) : open_to_copy(path_, status);
  if (!to) throw_system_error(path_, "cannot write");
  const bool terminal = isatty(to.get()) != 0;
  std::string shown;  // whole, as a piece may end within a character
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (off_t at = 0;;) {
    const ssize_t got = pread(place_->temporary.file.get(), buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path_, "cannot write");
    if (got == 0) break;
    at += got;
    if (terminal)
      shown.append(buffer.data(), static_cast<std::size_t>(got));
    else
      write_all(to.get(), buffer.data(), static_cast<std::size_t>(got), path_);
  }
  shown = printable_lines(shown);
  write_all(to.get(), shown.data(), shown.size(), path_);
}

void AtomicFile::commit() {
  if (place_->target.empty()) return copy_to_target();
  const int file = place_->temporary.file.get();
  const int directory = place_->directory.get();
  if (place_->mode) (void)fchmod(file, *place_->mode);
  if (fsync(file) != 0 ||
      renameat(directory, place_->temporary.name.c_str(), directory, place_->target.c_str()) != 0)
    throw_system_error(path_, "cannot write");
  temporary_path_.clear();
  place_->temporary = {};
}

void write_file(const std::string& path, std::string_view text, NamedBy named_by) {
  AtomicFile file(path, named_by);
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

void make_directory(const std::string& path, NamedBy named_by) {
  constexpr const char* kFailed = "cannot make the directory";
  if (named_by == NamedBy::kProgram) {
    if (!open_own_directory(path, true)) throw_system_error(path, kFailed);
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw FileError(fmt::format("{}: {}: {}", path, kFailed, reason_text(error.value())));
}

std::string read_file(const std::string& path, std::size_t limit) {
  return InputFile(path).read(limit);
}

std::string read_regular_file(const std::string& path, std::size_t limit) {
  const Descriptor file = open_own(path, O_RDONLY);
  if (!file) throw_system_error(path, "cannot read");
  return read_to_end(file.get(), path, limit);
}

}  // namespace synergraph
