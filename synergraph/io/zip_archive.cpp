#include "synergraph/io/zip_archive.h"

#include <fmt/core.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <set>
#include <string_view>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/tensor_file_contents.h"

namespace synergraph {
namespace {

/// What libzip reads the archive from: our bytes and a position.
struct Cursor {
  ByteSourcePtr bytes;
  std::uint64_t position = 0;
  zip_error_t error{};
  std::exception_ptr failure = {};  ///< what must not pass through C
};

zip_int64_t read_cursor(Cursor& cursor, void* data, zip_uint64_t length) {
  const std::uint64_t left = cursor.bytes->size() - cursor.position;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(length, left));
  try {
    cursor.bytes->read(cursor.position, data, count);
  } catch (const InputError&) {
    cursor.failure = std::current_exception();
    zip_error_set(&cursor.error, ZIP_ER_READ, 0);
    return -1;
  }
  cursor.position += count;
  return static_cast<zip_int64_t>(count);
}

zip_int64_t stat_cursor(const Cursor& cursor, void* data) {
  auto* stat = static_cast<zip_stat_t*>(data);
  zip_stat_init(stat);
  stat->size = cursor.bytes->size();
  stat->valid |= ZIP_STAT_SIZE;
  return sizeof *stat;
}

zip_int64_t seek_cursor(Cursor& cursor, void* data, zip_uint64_t length) {
  const zip_int64_t place = zip_source_seek_compute_offset(cursor.position, cursor.bytes->size(),
                                                           data, length, &cursor.error);
  if (place < 0) return -1;
  cursor.position = static_cast<std::uint64_t>(place);
  return 0;
}

zip_int64_t serve_cursor(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& cursor = *static_cast<Cursor*>(state);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      cursor.position = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return read_cursor(cursor, data, length);
    case ZIP_SOURCE_CLOSE:
      return 0;
    case ZIP_SOURCE_STAT:
      return stat_cursor(cursor, data);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&cursor.error, data, length);
    case ZIP_SOURCE_SEEK:
      return seek_cursor(cursor, data, length);
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(cursor.position);
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_FREE, ZIP_SOURCE_SUPPORTS, -1);
    default:
      zip_error_set(&cursor.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

}  // namespace

/// The open archive. libzip is not thread-safe: every call into it holds the mutex.
struct ZipArchive::Impl {
  explicit Impl(const ByteSourcePtr& bytes) : cursor{bytes} {}
  ~Impl() {
    if (archive != nullptr) zip_discard(archive);
    zip_error_fini(&cursor.error);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Notes that a member is being read. An open member costs libzip a buffer: only the last few
  /// stay open, and the others open again where they are read again.
  void use(const MemberBytes* member);
  void forget(const MemberBytes* member) { std::erase(open, member); }

  static constexpr std::size_t kMaxOpen = 16;

  Cursor cursor;
  zip_t* archive = nullptr;
  std::mutex mutex;
  std::vector<const MemberBytes*> open;  ///< the last one used at the end
};

class ZipArchive::MemberBytes final : public ByteSource {
 public:
  MemberBytes(std::shared_ptr<Impl> impl, const Member& member)
      : ByteSource(impl->cursor.bytes->name(), member.size),
        impl_(std::move(impl)),
        member_(member) {}
  ~MemberBytes() override {
    const std::lock_guard lock(impl_->mutex);
    impl_->forget(this);
    close();
  }

  bool reads_anywhere() const override { return !member_.compressed; }

  void close() const {
    if (file_ != nullptr) zip_fclose(file_);
    file_ = nullptr;
  }

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    const std::lock_guard lock(impl_->mutex);
    impl_->use(this);
    go_to(offset);
    take(out, count);
    if (position_ == size()) check_end();
  }

  void go_to(std::uint64_t offset) const {
    if (file_ != nullptr && position_ == offset) return;
    if (file_ == nullptr || (member_.compressed && offset < position_)) open();
    if (!member_.compressed) {
      if (offset != 0 && zip_fseek(file_, static_cast<zip_int64_t>(offset), SEEK_SET) != 0) fail();
      position_ = offset;
      return;
    }
    std::vector<char> skipped(std::min<std::uint64_t>(offset - position_, 1U << 16U));
    while (position_ < offset) {
      take(skipped.data(), std::min<std::uint64_t>(offset - position_, skipped.size()));
    }
  }

  void open() const {
    close();
    file_ = zip_fopen_index(impl_->archive, member_.index, 0);
    position_ = 0;
    if (file_ == nullptr) complain(zip_strerror(impl_->archive));
  }

  void take(void* out, std::size_t count) const {
    char* bytes = static_cast<char*>(out);
    while (count > 0) {
      const zip_int64_t got = zip_fread(file_, bytes, count);
      if (got < 0) fail();
      if (got == 0) complain("its data end early");
      bytes += got;
      position_ += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

  /// libzip compares the checksum when it meets the end.
  void check_end() const {
    char extra = 0;
    const zip_int64_t got = zip_fread(file_, &extra, 1);
    if (got < 0) fail();
    if (got > 0) complain("its data are longer than declared");
    close();  // libzip cannot seek back from the end; the next read opens it again
  }

  [[noreturn]] void fail() const { complain(zip_file_strerror(file_)); }

  [[noreturn]] void complain(const std::string& what) const {
    const std::string message =
        fmt::format("{}: member {}: {}", name(), quoted_text(member_.name), what);
    close();
    if (impl_->cursor.failure) std::rethrow_exception(impl_->cursor.failure);
    throw InputError(message);
  }

  std::shared_ptr<Impl> impl_;
  Member member_;
  mutable zip_file_t* file_ = nullptr;
  mutable std::uint64_t position_ = 0;
};

void ZipArchive::Impl::use(const MemberBytes* member) {
  if (!open.empty() && open.back() == member) return;
  forget(member);
  if (open.size() == kMaxOpen) {
    open.front()->close();
    open.erase(open.begin());
  }
  open.push_back(member);
}

std::shared_ptr<const ZipArchive> ZipArchive::open(const ByteSourcePtr& bytes) {
  constexpr std::uint64_t kSmallest = 22;  // libzip takes an empty file for an empty archive
  if (bytes->size() < kSmallest) throw InputError(bytes->name() + ": too short for a zip archive");
  const auto impl = std::make_shared<Impl>(bytes);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(serve_cursor, &impl->cursor, &error);
  if (source != nullptr) {
    impl->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (impl->archive == nullptr) zip_source_free(source);
  }
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (impl->archive == nullptr) {
    if (impl->cursor.failure) std::rethrow_exception(impl->cursor.failure);
    throw InputError(fmt::format("{}: not a readable zip archive: {}", bytes->name(), reason));
  }
  const std::shared_ptr<ZipArchive> archive(new ZipArchive(impl));
  archive->read_directory();
  return archive;
}

void ZipArchive::read_directory() {
  const zip_int64_t count = zip_get_num_entries(impl_->archive, 0);
  if (count < 0 || static_cast<std::uint64_t>(count) > kMaxTensors) {
    throw InputError(fmt::format("{}: {} members, the limit is {}", path(), count, kMaxTensors));
  }
  std::set<std::string> names;
  std::uint64_t left = impl_->cursor.bytes->size();
  for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(count); ++index) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(impl_->archive, index, ZIP_FL_ENC_RAW, &stat) != 0) {
      throw InputError(
          fmt::format("{}: member {}: {}", path(), index, zip_strerror(impl_->archive)));
    }
    constexpr std::uint64_t kNeeded =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    add({.name = stat.name == nullptr ? "" : stat.name,
         .known = (stat.valid & kNeeded) == kNeeded,
         .encrypted = stat.encryption_method != ZIP_EM_NONE,
         .method = stat.comp_method,
         .size = stat.size,
         .stored_size = stat.comp_size},
        index, names, left);
  }
}

const std::string& ZipArchive::path() const {
  return impl_->cursor.bytes->name();
}

ByteSourcePtr ZipArchive::bytes(const Member& member) const {
  return std::make_shared<MemberBytes>(impl_, member);
}

}  // namespace synergraph
