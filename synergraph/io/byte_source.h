#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Read-only bytes at known offsets: a file, a member of an archive, or memory. Files are read with
/// pread into the caller's buffer and not mapped. Resident memory is therefore only what the caller
/// asks for. A file that shrinks during a read gives an error and not a signal. Several threads may
/// call every member at once.
class ByteSource {
 public:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The name for error messages: the path of the file, and the archive member if there is one.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Returns false if a read takes long that does not begin where the last one ended: compressed
  /// data can only be read forwards.
  virtual bool reads_anywhere() const { return true; }

  /// Fills `out` with exactly the bytes [offset, offset + count). Throws InputError if the source
  /// does not have these bytes.
  void read(std::uint64_t offset, void* out, std::size_t count) const;

  /// Returns the bytes [offset, offset + count) as a string.
  std::string read_string(std::uint64_t offset, std::size_t count) const;

 protected:
  /// Callers guarantee `offset + count <= size()` and `count > 0`.
  virtual void read_at(std::uint64_t offset, void* out, std::size_t count) const = 0;

 private:
  std::string name_;
  std::uint64_t size_;
};

using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Opens a regular file. A pipe that the user named is read to its end into memory. Throws
/// InputError if the file is missing, unreadable, or neither regular nor a pipe. Reads throw
/// InputError if the file was written to after it was opened.
ByteSourcePtr open_bytes(const std::string& path, NamedBy named_by = NamedBy::kUser);

/// Bytes in memory, under a name for messages.
ByteSourcePtr memory_bytes(std::string name, std::string bytes);

}  // namespace synergraph
#pragma GCC visibility pop
