#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "synergraph/core/error.h"
#include "synergraph/io/byte_source.h"
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

}  // namespace

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

}  // namespace synergraph
