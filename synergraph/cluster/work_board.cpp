#include "synergraph/cluster/work_board.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "synergraph/core/fingerprint.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

constexpr const char* kWorkers = "workers";

/// Calls visit(name) for what is in a directory; false where there is none.
template <class Visit>
bool list(const std::string& path, const Visit& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (!directory) {
    if (errno == ENOENT) return false;
    throw_system_error(path, "cannot read");
  }
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's own
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr && errno != 0) throw_system_error(path, "cannot read");
    if (entry == nullptr) return true;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (!name.starts_with('.')) visit(name);
  }
}

}  // namespace

WorkBoard::WorkBoard(std::string root) : root_(std::move(root)) {
  make_directory(worker_path(""));
}

std::string WorkBoard::folder_of(std::string_view piece) {
  return fingerprint_of(piece).substr(14);  // the first digits of near names differ less
}

std::string WorkBoard::path(std::string_view piece, std::string_view ending) const {
  return fmt::format("{}/{}/{}{}{}", root_, folder_of(piece), piece, ending.empty() ? "" : ".",
                     ending);
}

std::string WorkBoard::worker_path(std::string_view token) const {
  return fmt::format("{}/{}/{}", root_, kWorkers, token);
}

void WorkBoard::make_folder(std::string_view piece) const {
  const std::string folder = fmt::format("{}/{}", root_, folder_of(piece));
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    throw_system_error(folder, "cannot make the directory");
}

std::set<std::string, std::less<>> WorkBoard::names_in(const std::string& folder) const {
  std::set<std::string, std::less<>> names;
  const std::string path = fmt::format("{}/{}", root_, folder);
  struct stat status {};
  if (!list(path, [&](std::string_view name) { names.emplace(name); }) &&
      stat(root_.c_str(), &status) != 0)
    throw_system_error(root_, "cannot read");
  return names;
}

std::vector<std::string> WorkBoard::folders() const {
  std::vector<std::string> found;
  const auto is_folder = [](std::string_view name) {
    return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  };
  if (!list(root_, [&](std::string_view name) {
        if (is_folder(name)) found.emplace_back(name);
      }))
    throw_system_error(root_, "cannot read");
  return found;
}

}  // namespace synergraph
