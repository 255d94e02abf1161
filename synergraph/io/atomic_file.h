#pragma once

#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// A file that appears whole or not at all: bytes go to a temporary name in the same directory;
/// commit() flushes them to disk and renames. Destroyed without commit(), it leaves nothing behind;
/// what a killed process left, the next file that its machine writes in that directory removes. A
/// symbolic link stays, and the file it names is written; a file that is replaced leaves its
/// permissions to the new one. What is no regular file (a pipe, a terminal), or is where standard
/// output or standard error already goes, gets the bytes at commit(); a terminal gets them
/// printable. Errors are InputErrors that name the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

  /// Where the bytes are before commit(): for programs that write the file themselves.
  const std::string& temporary_path() const { return temporary_path_; }

 private:
  void copy_to_target(int from);

  std::string path_;
  std::string target_;  ///< the path without symbolic links; empty: bytes are copied to path_
  std::string temporary_path_;
  std::optional<unsigned> mode_;  ///< permissions of the file that is replaced
  int descriptor_ = -1;
};

/// Writes a whole text file atomically.
void write_file(const std::string& path, std::string_view text);

/// InputError unless this path can be written now: to fail before long work. Leaves nothing behind.
void check_writable(const std::string& path);

/// Whether what is written to one path takes the place of what is at the other, however the two are
/// spelt. What goes to a device, a pipe or a standard stream takes no place.
bool is_same_file(const std::string& path, const std::string& other);

/// Makes a directory, and those it lies in, unless it is there. InputError names the system's
/// reason.
void make_directory(const std::string& path);

/// Reads a whole file of at most `limit` bytes. InputError when missing, unreadable or larger.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

/// The same for a file that a program has left for programs: InputError also where a pipe or a
/// device lies in its place, which might never end.
std::string read_regular_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

}  // namespace synergraph
#pragma GCC visibility pop
