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
/// pread into the caller's buffer rather than mapped: resident memory stays at what the caller asks
/// for, and a file that shrinks while it is read is an error instead of a signal.
/// Every member may be called from several threads.
class ByteSource {
 public:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// What error messages call it: the file's path, and the member where there is one.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Fills `out` with exactly the bytes [offset, offset + count); InputError when they are not
  /// there.
  void read(std::uint64_t offset, void* out, std::size_t count) const;

  /// The same as a string.
  std::string read_string(std::uint64_t offset, std::size_t count) const;

 protected:
  /// `offset + count <= size()` and `count > 0` hold.
  virtual void read_at(std::uint64_t offset, void* out, std::size_t count) const = 0;

 private:
  std::string name_;
  std::uint64_t size_;
};

using ByteSourcePtr = std::shared_ptr<const ByteSource>;

/// Opens a regular file; a pipe that the user named is read to its end into memory. InputError when
/// it is missing, unreadable or neither. Whoever reads the bytes gets an InputError as soon as the
/// file has been written to since it was opened.
ByteSourcePtr open_bytes(const std::string& path, NamedBy named_by = NamedBy::kUser);

/// Bytes in memory, under a name for messages.
ByteSourcePtr memory_bytes(std::string name, std::string bytes);

}  // namespace synergraph
#pragma GCC visibility pop
