#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A file that appears whole or not at all: bytes go to a temporary name in the same directory;
/// commit() flushes them to disk and renames. Destroyed without commit(), it leaves nothing behind;
/// what a killed process left, the next file that its machine writes in that directory removes. A
/// file that is replaced leaves its permissions to the new one. Errors are InputErrors that name
/// the path and the system's reason.
///
/// If the user chose the name, a symbolic link stays, and the file behind it is written. A pipe, a
/// terminal or another file that is not regular gets the bytes at commit(). So does the file that
/// standard output or standard error already goes to. A terminal gets printable text. If the
/// program chose the name, all of these are replaced, except a directory.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, NamedBy named_by = NamedBy::kUser);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Likewise, from an offset on; write() goes on where the last write() ended.
  void write_at(std::uint64_t offset, const void* data, std::size_t size);
  void commit();

  /// Where the bytes are before commit().
  const std::string& temporary_path() const { return temporary_path_; }

 private:
  struct Place;

  void copy_to_target();

  std::string path_;
  std::string temporary_path_;
  std::unique_ptr<Place> place_;
};

/// Writes a whole text file atomically.
void write_file(const std::string& path, std::string_view text, NamedBy named_by = NamedBy::kUser);

/// InputError unless this path can be written now: to fail before long work. Leaves nothing behind.
void check_writable(const std::string& path);

/// Whether what is written to one path takes the place of what is at the other, however the two are
/// spelt. What goes to a device, a pipe or a standard stream takes no place.
bool is_same_file(const std::string& path, const std::string& other);

/// Makes a directory, and those it lies in, unless it is there. InputError names the system's
/// reason. Of a path that the program chose, no part may be a symbolic link.
void make_directory(const std::string& path, NamedBy named_by = NamedBy::kUser);

/// Reads a whole file of at most `limit` bytes that the user named. InputError when missing,
/// unreadable, larger, or changed while it is read, and where no program writes to a named pipe.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

/// The same for a file that the program named: InputError also where a symbolic link, a pipe or a
/// device lies in its place. It may be written to meanwhile.
std::string read_regular_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

}  // namespace synergraph
#pragma GCC visibility pop
