#include "synergraph/cluster/work_board.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "synergraph/core/fingerprint.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

constexpr const char* kWorkers = "workers";

}  // namespace

WorkBoard::WorkBoard(std::string root) : root_(std::move(root)) {
  make_directory(worker_path(""), NamedBy::kProgram);
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
  const OwnPlace place(folder);
  const bool made =
      place.directory && (mkdirat(place.directory.get(), place.name.c_str(), 0777) == 0 ||
                          (errno == EEXIST && open_own_directory(folder)));
  if (!made) throw_system_error(folder, "cannot make the directory");
}

std::set<std::string, std::less<>> WorkBoard::names_in(const std::string& folder) const {
  bool missing = false;
  auto names = names_in_own(fmt::format("{}/{}", root_, folder), &missing);
  if (missing && !open_own_directory(root_)) throw_system_error(root_, "cannot read");
  return names;
}

std::vector<std::string> WorkBoard::folders() const {
  std::vector<std::string> found;
  const auto is_folder = [](std::string_view name) {
    return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  };
  for (const std::string& name : names_in_own(root_))
    if (is_folder(name)) found.push_back(name);
  return found;
}

}  // namespace synergraph
