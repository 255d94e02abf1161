#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "synergraph/io/descriptor.h"

namespace synergraph {

/// What of an open file changes when somebody writes to it: its size and its times. The time of the
/// last change of any kind cannot be put back; it also changes where a hard link is made or
/// removed, as when another file takes its name, which leaves the bytes as they are. (Its blocks
/// change without a write, when the system puts a new file onto the disk.)
class FileState {
 public:
  explicit FileState(const struct stat& status) : status_(status) {}
  /// InputError if the file is no longer in this state.
  void require(int descriptor, const std::string& name) const;

 private:
  struct stat status_;
};

/// A file that a user named, open for reading: anything that can be read. A named pipe gets a
/// moment for its writer to come; FileError if nobody writes to it.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_pipe() const { return S_ISFIFO(status_.st_mode); }
  const struct stat& status() const { return status_; }
  Descriptor take() { return std::move(file_); }

  /// All of it. InputError where it is larger, or where it was written to meanwhile.
  std::string read(std::size_t limit) const;

 private:
  std::string path_;
  Descriptor file_;
  struct stat status_ {};
  std::string begin_;  ///< of a pipe: what was read when it was opened
};

/// All bytes up to the end. InputError where there are more.
std::string read_to_end(int descriptor, const std::string& name, std::size_t limit);

}  // namespace synergraph
