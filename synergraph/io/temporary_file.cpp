#include "synergraph/io/temporary_file.h"

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
void sweep(const fs::path& directory) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const pid_t process = maker(name);
    if (process == 0 || name.find('-' + machine(), kPrefix.size()) == std::string::npos ||
        kill(process, 0) == 0 || errno != ESRCH)
      continue;
    const int file = open(entry->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(entry->path().c_str());
    close(file);
  }
}

}  // namespace

Temporary make_temporary(const fs::path& directory, const fs::path& ending) {
  const fs::path where = directory.empty() ? fs::path(".") : directory;
  sweep(where);
  std::random_device random;
  const bool named = ending.native().size() <= kLongestEnding;
  for (;;) {
    Temporary file;
    file.path = (where / fmt::format("{}{}-{}{:08x}{}", kPrefix, getpid(), machine(), random(),
                                     named ? ending.c_str() : ""))
                    .string();
    file.descriptor = open(file.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor < 0 && errno == EEXIST) continue;
    if (file.descriptor < 0) return file;
    // Where there are no locks, the number of the process alone protects the file.
    (void)flock(file.descriptor, LOCK_EX | LOCK_NB);
    struct stat status {};
    if (fstat(file.descriptor, &status) == 0 && status.st_nlink > 0) return file;
    close(file.descriptor);  // swept from another container before it was locked
  }
}

}  // namespace synergraph
