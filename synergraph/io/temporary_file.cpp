#include "synergraph/io/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <random>
#include <string_view>

#include "synergraph/core/fingerprint.h"
#include "synergraph/core/parse_number.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".synergraph-";
constexpr std::size_t kLongestEnding = 32;

/// The process that made a temporary file of this name; 0 if it is no such name.
pid_t maker(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  pid_t process = 0;
  const std::size_t length = parse_leading_number(name, process);
  if (length == 0 || process <= 0) return 0;
  name.remove_prefix(length);
  constexpr std::size_t digits = 16;
  const bool ours = name.size() > digits && name[0] == '-' &&
                    name.find_first_not_of("0123456789abcdef", 1) > digits &&
                    (name.size() == digits + 1 || name[digits + 1] == '.');
  return ours ? process : 0;
}

/// The beginning of the names' numbers: its own for every machine. Elsewhere neither the numbers of
/// processes nor, on many network file systems, the locks of this one mean anything.
std::string machine() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  (void)gethostname(host.data(), host.size() - 1);
  return fingerprint_of({host.data(), host.size()}).substr(8);
}

/// Removes what dead processes of this machine have left. A live one, in whatever container, holds
/// a lock on its file.
void sweep(int directory) {
  // What only names the directory cannot be read.
  Descriptor readable(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(readable ? fdopendir(readable.get()) : nullptr,
                                                   closedir);
  if (!stream) return;
  (void)readable.release();  // the stream closes it
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's own
  while (const dirent* entry = readdir(stream.get())) {
    const std::string name(static_cast<const char*>(entry->d_name));
    const pid_t process = maker(name);
    if (process == 0 || name.find('-' + machine(), kPrefix.size()) == std::string::npos ||
        kill(process, 0) == 0 || errno != ESRCH)
      continue;
    const Descriptor file(
        openat(directory, name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlinkat(directory, name.c_str(), 0);
  }
}

}  // namespace

Temporary make_temporary(int directory, const fs::path& ending) {
  sweep(directory);
  std::random_device random;
  const bool named = ending.native().size() <= kLongestEnding;
  for (;;) {
    Temporary made;
    made.name = fmt::format("{}{}-{}{:08x}{}", kPrefix, getpid(), machine(), random(),
                            named ? ending.c_str() : "");
    made.leftover = std::make_unique<Leftover>(directory, made.name);
    made.file.reset(
        openat(directory, made.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!made.file && errno == EEXIST) continue;
    if (!made.file) {
      const int reason = errno;
      made.leftover.reset();
      errno = reason;
      return made;
    }
    made.leftover->made();
    // Where there are no locks, the number of the process alone protects the file.
    (void)flock(made.file.get(), LOCK_EX | LOCK_NB);
    struct stat status {};
    if (fstat(made.file.get(), &status) == 0 && status.st_nlink > 0) return made;
    // Otherwise it was swept from another container before it was locked.
  }
}

}  // namespace synergraph
