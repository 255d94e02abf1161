#include "synergraph/io/file_stamp.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace synergraph {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

}  // namespace

std::string file_stamp(const std::string& path, NamedBy named_by) {
  struct stat status {};
  const bool follows = named_by == NamedBy::kUser;
  if ((follows ? stat(path.c_str(), &status) : lstat(path.c_str(), &status)) != 0) return "";
  if (!S_ISREG(status.st_mode)) return "no file";
  // A network file system asks its server when a file is opened; before, it may remember another.
  const int file =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follows ? 0 : O_NOFOLLOW));
  if (file < 0) return "";
  const bool seen = fstat(file, &status) == 0;
  close(file);
  if (!seen) return "";
  return fmt::format("{} bytes of {}.{:09}", status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string files_stamp(const std::vector<std::string>& paths, NamedBy named_by) {
  std::string all = "files";
  for (const std::string& path : paths) {
    if (path.empty() || path == "-") continue;
    const std::string stamp = file_stamp(path, named_by);
    if (stamp.empty()) return "";
    all += ", " + stamp;
  }
  return all;
}

std::optional<std::int64_t> written_at(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return nanoseconds(status.st_mtim);
}

std::optional<std::int64_t> changed_at(const std::string& path) {
  struct stat status {};
  struct stat link {};
  if (stat(path.c_str(), &status) != 0 || lstat(path.c_str(), &link) != 0) return std::nullopt;
  return std::max(nanoseconds(status.st_ctim), nanoseconds(link.st_ctim));
}

}  // namespace synergraph
