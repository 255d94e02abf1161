#include "synergraph/io/byte_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "synergraph/core/error.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(const std::string& path, std::uint64_t size, int descriptor)
      : ByteSource(path, size), descriptor_(descriptor) {}
  ~FileBytes() override { close(descriptor_); }

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    char* bytes = static_cast<char*>(out);
    while (count > 0) {
      const ssize_t got = pread(descriptor_, bytes, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_system_error(name(), "cannot read");
      if (got == 0) throw InputError(name() + ": the file became shorter while it was read");
      bytes += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::size_t>(got);
    }
  }

  int descriptor_;
};

class MemoryBytes final : public ByteSource {
 public:
  MemoryBytes(std::string name, std::string bytes)
      : ByteSource(std::move(name), bytes.size()), bytes_(std::move(bytes)) {}

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    std::memcpy(out, bytes_.data() + offset, count);
  }

  std::string bytes_;
};

}  // namespace

void ByteSource::read(std::uint64_t offset, void* out, std::size_t count) const {
  if (offset > size_ || count > size_ - offset) {
    throw InputError(fmt::format("{}: ends early: {} bytes expected at offset {}, the size is {}",
                                 name_, count, offset, size_));
  }
  if (count > 0) read_at(offset, out, count);
}

std::string ByteSource::read_string(std::uint64_t offset, std::size_t count) const {
  std::string text(std::min<std::uint64_t>(count, size_), '\0');
  read(offset, text.data(), count);
  return text;
}

ByteSourcePtr open_bytes(const std::string& path) {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_system_error(path, "cannot read");
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    throw InputError(path + ": cannot read: not a regular file");
  }
  return std::make_shared<FileBytes>(path, static_cast<std::uint64_t>(status.st_size), descriptor);
}

ByteSourcePtr memory_bytes(std::string name, std::string bytes) {
  return std::make_shared<MemoryBytes>(std::move(name), std::move(bytes));
}

}  // namespace synergraph
