#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/input_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(const std::string& path, Descriptor file, const struct stat& status)
      : ByteSource(path, static_cast<std::uint64_t>(status.st_size)),
        file_(std::move(file)),
        opened_(status) {}

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    char* bytes = static_cast<char*>(out);
    while (count > 0) {
      const ssize_t got = pread(file_.get(), bytes, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_system_error(name(), "cannot read");
      if (got == 0) throw InputError(name() + ": the file became shorter while it was read");
      bytes += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
    // After every read: what was read so far is then of one file, and a later change does not
    // matter to who has read all that they need. (A file has its new time before its new bytes.)
    opened_.require(file_.get(), name());
  }

  Descriptor file_;
  FileState opened_;
};

/// A pipe ends, and is read into memory: its bytes come in order, once.
ByteSourcePtr open_named_by_user(const std::string& path) {
  InputFile input(path);
  if (input.is_pipe())
    return memory_bytes(path, input.read(std::numeric_limits<std::size_t>::max()));
  if (!input.is_regular()) throw InputError(path + ": cannot read: not a regular file");
  const struct stat status = input.status();
  return std::make_shared<FileBytes>(path, input.take(), status);
}

}  // namespace

ByteSourcePtr open_bytes(const std::string& path, NamedBy named_by) {
  if (named_by == NamedBy::kUser) return open_named_by_user(path);
  Descriptor file = open_own(path, O_RDONLY);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) throw_system_error(path, "cannot read");
  return std::make_shared<FileBytes>(path, std::move(file), status);
}

}  // namespace synergraph
