#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "synergraph/io/descriptor.h"

namespace synergraph {

/// The size and the times of an open file, which change when somebody writes to the file. Nobody
/// can restore the time of the last change of any kind. That time also changes when a hard link is
/// made or removed, for example when another file takes the name. The bytes stay unchanged then.
/// The number of blocks is not compared, because the system changes it without a write when a new
/// file reaches the disk.
class FileState {
 public:
  explicit FileState(const struct stat& status) : status_(status) {}
  /// Throws InputError if the file is no longer in this state.
  void require(int descriptor, const std::string& name) const;

 private:
  struct stat status_;
};

/// A readable file of any kind that a user named, open for reading. The constructor waits a moment
/// for the writer of a named pipe, and throws FileError if nobody writes to the pipe.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_pipe() const { return S_ISFIFO(status_.st_mode); }
  const struct stat& status() const { return status_; }
  int descriptor() const { return file_.get(); }
  Descriptor take() { return std::move(file_); }

  /// Reads the whole file. Throws InputError if the file is larger than `limit` or was written to
  /// during the read.
  std::string read(std::size_t limit) const;

 private:
  std::string path_;
  Descriptor file_;
  struct stat status_ {};
  std::string begin_;  ///< the bytes that the constructor read from a pipe
};

/// Reads all bytes up to the end. Throws InputError for more than `limit` bytes.
std::string read_to_end(int descriptor, const std::string& name, std::size_t limit);

}  // namespace synergraph
