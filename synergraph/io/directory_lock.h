#pragma once

#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// Ensures that only one program works in a directory at a time. The object holds a locked file
/// "synergraph.lock" in the directory and removes the file at its end. The user named the
/// directory, and user_directory() has resolved its path. The kernel releases the lock when the
/// holder ends, however the holder dies. On a filesystem without locks, the object locks nothing.
class DirectoryLock {
 public:
  /// Throws InputError if another program holds the lock, or if the lock file cannot be made.
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
