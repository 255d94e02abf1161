#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A file that appears complete or not at all. Bytes go to a temporary file in the same directory;
/// commit() flushes the temporary file to disk and renames it. An object destroyed without commit()
/// leaves no file behind. A killed process may leave a temporary file; the next AtomicFile on the
/// same machine and in the same directory removes that file. A new file keeps the permissions of
/// the file that it replaces. Errors are InputErrors that name the path and the system's reason.
///
/// If the user chose the name, a symbolic link stays, and its target is written. A pipe, a terminal
/// or another file that is not regular gets the bytes at commit(). So does the file that standard
/// output or standard error already goes to. A terminal gets printable text. If the program chose
/// the name, the new file replaces all of these, except a directory.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, NamedBy named_by = NamedBy::kUser);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Writes bytes at an offset. write() continues where the last write() ended.
  void write_at(std::uint64_t offset, const void* data, std::size_t size);
  void commit();

  /// The path of the bytes before commit().
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

/// Throws InputError unless this path is writable now, so that programs fail before long work.
/// Leaves no file behind.
void check_writable(const std::string& path);

/// Returns whether writing to one path replaces the file at the other path, however the two paths
/// are spelt. Devices, pipes and standard streams are never the same file.
bool is_same_file(const std::string& path, const std::string& other);

/// Creates a directory and its missing parents, unless the directory exists. InputError names the
/// system's reason. A path that the program chose must not contain a symbolic link.
void make_directory(const std::string& path, NamedBy named_by = NamedBy::kUser);

/// Reads a whole file of at most `limit` bytes that the user named. Throws InputError if the file
/// is missing, unreadable, larger than `limit` or changed during the read. Throws InputError also
/// if no program writes to a named pipe.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

/// Reads a whole file of at most `limit` bytes that the program named. Throws InputError also for a
/// symbolic link, a pipe or a device at this path. Other programs may write to the file during the
/// read.
std::string read_regular_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

}  // namespace synergraph
#pragma GCC visibility pop
