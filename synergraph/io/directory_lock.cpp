#include "synergraph/io/directory_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

/// Whether the path still names the open file: its last holder may have removed it.
bool names(const std::string& path, int descriptor) {
  struct stat here {};
  struct stat there {};
  return fstat(descriptor, &here) == 0 && stat(path.c_str(), &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::string& directory)
    : path_((std::filesystem::path(directory) / "synergraph.lock").string()) {
  for (;;) {
    descriptor_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw_system_error(path_, "cannot write");
    // Some filesystems have no locks: there is nothing to hold there, and no reason not to work.
    const bool held = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!held && names(path_, descriptor_)) return;
    ::close(descriptor_);
    if (held)
      throw InputError(fmt::format("{}: another run is at work in this directory", directory));
  }
}

DirectoryLock::~DirectoryLock() {
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace synergraph
