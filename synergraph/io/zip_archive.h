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

/// Whether a member's name is a relative path of plain components, not too long. Members never
/// become files here; a name that would escape a directory elsewhere still says that the archive is
/// not to be trusted.
bool is_plain_member(std::string_view name);

/// The members of a zip archive, read with libzip. Opening refuses what no honest writer makes:
/// names that occur twice or are not plain relative paths, encryption, methods other than stored
/// and deflate, members that together are larger than the file (they overlap), and declared sizes
/// beyond what deflate can expand to (1032 to 1).
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;   ///< of the data, uncompressed
    bool compressed = false;  ///< deflated, not stored
    std::uint64_t index = 0;  ///< in libzip's count
  };

  static std::shared_ptr<const ZipArchive> open(const ByteSourcePtr& bytes);

  const std::string& path() const;

  /// All members but directories, in the order of the archive.
  const std::vector<Member>& members() const { return members_; }

  /// The member of that name, or nullptr.
  const Member* find(const std::string& name) const;

  /// The bytes of a member. A stored member is read in place; a deflated one is streamed forward in
  /// bounded memory, and reading backwards starts again from its beginning. Checksums are verified
  /// when a member has been read from begin to end.
  ByteSourcePtr bytes(const Member& member) const;

 private:
  struct Impl;
  class MemberBytes;

  explicit ZipArchive(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void read_directory();

  /// What the archive says of a member.
  struct Entry {
    std::string name;
    bool known = true;  ///< the rest
    bool encrypted = false;
    unsigned method = 0;
    std::uint64_t size = 0;
    std::uint64_t stored_size = 0;
  };
  /// Adds a member, or refuses it. `names` are those before it, `left` what they leave of the file.
  void add(const Entry& entry, std::uint64_t index, std::set<std::string>& names,
           std::uint64_t& left);

  std::shared_ptr<Impl> impl_;
  std::vector<Member> members_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace synergraph
#pragma GCC visibility pop
