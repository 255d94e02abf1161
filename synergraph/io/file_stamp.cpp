#include "synergraph/io/file_stamp.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace synergraph {

std::string file_stamp(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  if (!S_ISREG(status.st_mode)) return "no file";
  // A network file system asks its server when a file is opened; before, it may remember another.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  const bool seen = fstat(file, &status) == 0;
  close(file);
  if (!seen) return "";
  return fmt::format("{} bytes of {}.{:09}", status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string files_stamp(const std::vector<std::string>& paths) {
  std::string all = "files";
  for (const std::string& path : paths) {
    if (path.empty() || path == "-") continue;
    const std::string stamp = file_stamp(path);
    if (stamp.empty()) return "";
    all += ", " + stamp;
  }
  return all;
}

}  // namespace synergraph
