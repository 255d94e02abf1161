#include "synergraph/io/directory_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "synergraph/core/error.h"
#include "synergraph/io/leftovers.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

/// Whether the place still names the open file: its last holder may have removed it.
bool names(const OwnPlace& place, int descriptor) {
  struct stat here {};
  struct stat there {};
  return fstat(descriptor, &here) == 0 &&
         fstatat(place.directory.get(), place.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

}  // namespace

struct DirectoryLock::Held {
  explicit Held(const std::string& path) : place(path) {}
  OwnPlace place;
  Descriptor file;
  std::unique_ptr<Leftover> leftover;
};

DirectoryLock::DirectoryLock(const std::string& directory) {
  const std::string path = directory + "/synergraph.lock";
  held_ = std::make_unique<Held>(path);
  for (;;) {
    held_->file = open_own(path, O_CREAT | O_RDWR);
    if (!held_->file) throw_system_error(path, "cannot write");
    // Some filesystems have no locks: there is nothing to hold there, and no reason not to work.
    const bool elsewhere =
        ::flock(held_->file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (elsewhere)
      throw InputError(fmt::format("{}: another run is at work in this directory", directory));
    if (names(held_->place, held_->file.get())) break;
  }
  held_->leftover = std::make_unique<Leftover>(held_->place.directory.get(), held_->place.name);
}

DirectoryLock::~DirectoryLock() {
  (void)unlinkat(held_->place.directory.get(), held_->place.name.c_str(), 0);
}

}  // namespace synergraph
