#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/io/byte_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns whether the name of a member is a relative path of plain components and not too long.
/// The reader never turns members into files. A name that would escape a directory elsewhere still
/// shows that the archive cannot be trusted.
bool is_plain_member(std::string_view name);

/// The members of a zip archive, read with libzip. Opening refuses archives that no honest writer
/// makes. Names must be unique and plain relative paths. Members must not be encrypted, and their
/// method must be stored or deflate. All members together must not be larger than the file, because
/// such members overlap. A declared size must not exceed what deflate can expand to (1032 to 1).
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;   ///< uncompressed size of the data
    bool compressed = false;  ///< deflated, not stored
    std::uint64_t index = 0;  ///< index in libzip
  };

  static std::shared_ptr<const ZipArchive> open(const ByteSourcePtr& bytes);

  const std::string& path() const;

  /// All members except directories, in the order of the archive.
  const std::vector<Member>& members() const { return members_; }

  /// Returns the member of that name, or nullptr.
  const Member* find(const std::string& name) const;

  /// Returns the bytes of a member. A stored member is read in place. A deflated member is streamed
  /// forward in bounded memory; a backward read starts again from the beginning. Checksums are
  /// verified when a caller has read a member from beginning to end.
  ByteSourcePtr bytes(const Member& member) const;

 private:
  struct Impl;
  class MemberBytes;

  explicit ZipArchive(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void read_directory();

  /// The archive's own description of a member.
  struct Entry {
    std::string name;
    bool known = true;  ///< the archive describes the other fields
    bool encrypted = false;
    unsigned method = 0;
    std::uint64_t size = 0;
    std::uint64_t stored_size = 0;
  };
  /// Adds a member, or refuses it. `names` holds the names of earlier members. `left` holds the
  /// bytes of the file that earlier members leave.
  void add(const Entry& entry, std::uint64_t index, std::set<std::string>& names,
           std::uint64_t& left);

  std::shared_ptr<Impl> impl_;
  std::vector<Member> members_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace synergraph
#pragma GCC visibility pop
