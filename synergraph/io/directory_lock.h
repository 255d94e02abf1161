#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// Only one program works in a directory at a time: a locked file "synergraph.lock" in it, which
/// goes with this object. The kernel ends the lock with its holder, however it dies. On a
/// filesystem without locks there is none.
class DirectoryLock {
 public:
  /// InputError when another program holds it, or when it cannot be made.
  explicit DirectoryLock(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace synergraph
#pragma GCC visibility pop
