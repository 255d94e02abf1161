#include "synergraph/io/npz.h"

#include <fmt/core.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"

namespace synergraph {
namespace {

constexpr std::string_view kEnding = ".npy";

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipPtr = std::unique_ptr<zip_t, Discard>;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw InputError(fmt::format("{}: cannot write: {}", path, reason));
}

/// A member while libzip reads it: the header, then the tensor's elements piece by piece.
struct Member {
  const TensorStream* tensor = nullptr;
  std::string header;
  std::optional<StreamReader> pieces = {};  ///< while it is open
  std::span<const std::byte> left = {};     ///< of the header or of the last piece
  zip_error_t error = {};
  std::exception_ptr failure = {};  ///< what must not pass through C
};

zip_int64_t open_member(Member& member) {
  member.pieces.emplace(*member.tensor);
  member.left = std::as_bytes(std::span(member.header));
  return 0;
}

zip_int64_t read_member(Member& member, void* data, zip_uint64_t length) {
  auto* out = static_cast<std::byte*>(data);
  zip_uint64_t done = 0;
  while (done < length) {
    if (member.left.empty()) member.left = member.pieces->next();
    if (member.left.empty()) break;
    const auto count = std::min<std::size_t>(member.left.size(), length - done);
    std::copy_n(member.left.data(), count, out + done);
    member.left = member.left.subspan(count);
    done += count;
  }
  return static_cast<zip_int64_t>(done);
}

zip_int64_t stat_member(const Member& member, void* data) {
  auto* stat = static_cast<zip_stat_t*>(data);
  zip_stat_init(stat);
  stat->size = member.header.size() + static_cast<zip_uint64_t>(member.tensor->info.bytes());
  stat->comp_size = stat->size;
  stat->comp_method = ZIP_CM_STORE;
  stat->encryption_method = ZIP_EM_NONE;
  stat->valid =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  return sizeof *stat;
}

zip_int64_t serve_member(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& member = *static_cast<Member*>(state);
  switch (command) {
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_READ:
      try {
        return command == ZIP_SOURCE_OPEN ? open_member(member) : read_member(member, data, length);
      } catch (...) {
        member.failure = std::current_exception();
        zip_error_set(&member.error, ZIP_ER_READ, 0);
        return -1;
      }
    case ZIP_SOURCE_CLOSE:
      member.pieces.reset();
      return 0;
    case ZIP_SOURCE_STAT:
      return stat_member(member, data);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&member.error, data, length);
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                            ZIP_SOURCE_SUPPORTS, -1);
    default:
      zip_error_set(&member.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

void add_member(const std::string& path, zip_t* archive, Member& member) {
  const std::string& tensor = member.tensor->info.name;
  const std::string name = tensor + std::string(kEnding);
  zip_source_t* source = zip_source_function(archive, serve_member, &member);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail(path, fmt::format("tensor {}: {}", quoted_text(tensor), zip_strerror(archive)));
  }
  constexpr zip_uint16_t kFirstDay =
      1U << 5U | 1U;  // 1 January 1980, where the zip calendar begins
  const auto place = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, place, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, place, 0, kFirstDay, 0) != 0) {
    fail(path, zip_strerror(archive));
  }
}

/// The archive while libzip writes it: straight to the file, where libzip would make a temporary
/// file of its own, of which nobody else would know.
struct Archive {
  AtomicFile& file;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  zip_error_t error = {};
  std::exception_ptr failure = {};  ///< what must not pass through C
};

zip_int64_t write_archive(Archive& archive, const void* data, zip_uint64_t length) {
  try {
    archive.file.write_at(archive.position, data, length);
  } catch (...) {
    archive.failure = std::current_exception();
    zip_error_set(&archive.error, ZIP_ER_WRITE, 0);
    return -1;
  }
  archive.position += length;
  archive.size = std::max(archive.size, archive.position);
  return static_cast<zip_int64_t>(length);
}

zip_int64_t seek_archive(Archive& archive, void* data, zip_uint64_t length) {
  const zip_int64_t place =
      zip_source_seek_compute_offset(archive.position, archive.size, data, length, &archive.error);
  if (place < 0) return -1;
  archive.position = static_cast<std::uint64_t>(place);
  return 0;
}

/// There is nothing to read: an archive that is not there yet.
zip_int64_t serve_archive(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& archive = *static_cast<Archive*>(state);
  switch (command) {
    case ZIP_SOURCE_STAT:
      zip_error_set(&archive.error, ZIP_ER_READ, ENOENT);
      return -1;
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_WRITE:
      return write_archive(archive, data, length);
    case ZIP_SOURCE_SEEK_WRITE:
      return seek_archive(archive, data, length);
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(archive.position);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&archive.error, data, length);
    case ZIP_SOURCE_SUPPORTS:  // libzip asks for all that it would need to read, too
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS,
          ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
          ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_REMOVE, -1);
    default:
      zip_error_set(&archive.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

ZipPtr open_archive(const std::string& path, Archive& archive) {
  zip_error_t error;
  zip_error_init(&error);
  ZipPtr opened;
  zip_source_t* source = zip_source_function_create(serve_archive, &archive, &error);
  if (source != nullptr) {
    opened.reset(zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error));
    if (opened == nullptr) zip_source_free(source);
  }
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (opened == nullptr) fail(path, reason);
  return opened;
}

/// libzip writes nothing for an archive without members.
void write_empty(const std::string& path) {
  std::string end = "PK\x05\x06";
  end.resize(22, '\0');
  write_file(path, end);
}

}  // namespace

TensorFileContents read_npz(const ZipArchive& archive) {
  TensorFileContents contents;
  for (const ZipArchive::Member& member : archive.members()) {
    std::string name = member.name;
    if (!name.ends_with(kEnding)) {
      contents.skipped.push_back({std::move(name), "not a .npy member"});
      continue;
    }
    name.resize(name.size() - kEnding.size());
    NpyArray array = parse_npy(archive.bytes(member), name);
    if (array.tensor) {
      contents.tensors.push_back(std::move(*array.tensor));
    } else {
      contents.skipped.push_back({std::move(name), std::move(array.reason)});
    }
  }
  return contents;
}

void write_npz(const std::string& path, std::span<const TensorData> tensors) {
  stream_npz(path, streams_of(tensors));
}

void stream_npz(const std::string& path, std::span<const TensorStream> tensors,
                const std::vector<NpzText>& texts) {
  if (tensors.empty() && texts.empty()) return write_empty(path);
  std::set<std::string_view> names;
  std::vector<Member> members;  // must outlive the archive, which points into it
  members.reserve(tensors.size() + texts.size());
  const auto add = [&](const TensorStream& tensor, std::string header) {
    const std::string& name = tensor.info.name;
    if (name.empty() || !names.insert(name).second) {
      fail(path, fmt::format("the tensor name {} is empty or occurs twice", quoted_text(name)));
    }
    if (!is_plain_member(name + std::string(kEnding)))
      fail(path,
           fmt::format("the tensor name {} is not a plain relative path of at most 4092 bytes",
                       quoted_text(name)));
    members.push_back({&tensor, std::move(header)});
  };
  for (const TensorStream& tensor : tensors) add(tensor, npy_header(tensor.info));
  std::vector<TensorData> letters;
  letters.reserve(texts.size());
  for (const NpzText& text : texts)
    letters.push_back({{text.name, DType::kUInt8, {static_cast<std::int64_t>(text.text.size())}},
                       text.text.data()});
  const std::vector<TensorStream> streams = streams_of(letters);
  for (std::size_t k = 0; k < streams.size(); ++k)
    add(streams[k], npy_text_header(texts[k].text.size()));
  AtomicFile file(path);
  Archive written{file};
  ZipPtr archive = open_archive(path, written);
  for (Member& member : members) add_member(path, archive.get(), member);
  if (zip_close(archive.get()) != 0) {
    for (const Member& member : members) {
      if (member.failure) std::rethrow_exception(member.failure);
    }
    if (written.failure) std::rethrow_exception(written.failure);
    fail(path, zip_strerror(archive.get()));
  }
  (void)archive.release();
  file.commit();
}

}  // namespace synergraph
