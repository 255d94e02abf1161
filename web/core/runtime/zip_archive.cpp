// Archives that the page took apart, with the browser's own decompression, instead of libzip:
// src/core/zip.ts hands over "NAME\nmembers", the directory, and "NAME\n0", "NAME\n1", ..., what
// the members hold.

#include "synergraph/io/zip_archive.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/tensor_file_contents.h"

namespace synergraph {
namespace {

/// Of a member in the directory; its name follows, then `failure`, why it could not be
/// decompressed.
struct Record {
  std::uint64_t size, stored_size;
  std::uint32_t method, encrypted, name_length, failure_length;
};

}  // namespace

struct ZipArchive::Impl {
  ByteSourcePtr bytes;
  std::vector<std::string> failures;  ///< of every member; empty: none
};

class ZipArchive::MemberBytes final : public ByteSource {
 public:
  MemberBytes(const std::string& path, const Member& member, const std::string& failure)
      : ByteSource(path, member.size),
        bytes_(failure.empty() ? open_bytes(fmt::format("{}\n{}", path, member.index)) : nullptr),
        failure_(fmt::format("{}: member {}: {}", path, quoted_text(member.name), failure)) {}

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    if (!bytes_) throw InputError(failure_);
    bytes_->read(offset, out, count);
  }

  ByteSourcePtr bytes_;
  std::string failure_;
};

std::shared_ptr<const ZipArchive> ZipArchive::open(const ByteSourcePtr& bytes) {
  constexpr std::uint64_t kSmallest = 22;
  if (bytes->size() < kSmallest) throw InputError(bytes->name() + ": too short for a zip archive");
  const std::shared_ptr<ZipArchive> archive(
      new ZipArchive(std::make_shared<Impl>(Impl{bytes, {}})));
  archive->read_directory();
  return archive;
}

/// A text, why there is no directory, if it is not empty; then the number of members and their
/// records.
void ZipArchive::read_directory() {
  const ByteSourcePtr directory = open_bytes(path() + "\nmembers");
  std::uint64_t at = 0;
  const auto read_number = [&] {
    std::uint32_t number = 0;
    directory->read(at, &number, sizeof number);
    at += sizeof number;
    return number;
  };
  const auto read_text = [&](std::uint32_t length) {
    at += length;
    return directory->read_string(at - length, length);
  };
  if (const std::string failure = read_text(read_number()); !failure.empty())
    throw InputError(fmt::format("{}: not a readable zip archive: {}", path(), failure));
  const std::uint32_t count = read_number();
  if (count > kMaxTensors)
    throw InputError(fmt::format("{}: {} members, the limit is {}", path(), count, kMaxTensors));
  std::set<std::string> names;
  std::uint64_t left = impl_->bytes->size();
  for (std::uint32_t index = 0; index < count; ++index) {
    Record record{};
    directory->read(at, &record, sizeof record);
    at += sizeof record;
    const std::string name = read_text(record.name_length);
    impl_->failures.push_back(read_text(record.failure_length));
    add({name, true, record.encrypted != 0, record.method, record.size, record.stored_size}, index,
        names, left);
  }
}

const std::string& ZipArchive::path() const {
  return impl_->bytes->name();
}

ByteSourcePtr ZipArchive::bytes(const Member& member) const {
  return std::make_shared<MemberBytes>(path(), member,
                                       impl_->failures[static_cast<std::size_t>(member.index)]);
}

}  // namespace synergraph
