#pragma once

#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// Only one program works in a directory at a time: a locked file "synergraph.lock" in it, which
/// goes with this object. The directory is one that the user named, as user_directory() has it. The
/// kernel ends the lock with its holder, however it dies. On a filesystem without locks there is
/// none.
class DirectoryLock {
 public:
  /// InputError when another program holds it, or when it cannot be made.
  explicit DirectoryLock(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace synergraph
#pragma GCC visibility pop
