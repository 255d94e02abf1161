// Files that the page handed over, instead of the disk's: see synergraph/io/byte_source.cpp.

#include "runtime/host.h"
#include "synergraph/core/error.h"
#include "synergraph/io/byte_source.h"

namespace synergraph {
namespace {

class HostBytes final : public ByteSource {
 public:
  HostBytes(std::string name, std::int32_t file)
      : ByteSource(std::move(name), static_cast<std::uint64_t>(host_size(file))), file_(file) {}

 private:
  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    if (host_read(file_, static_cast<double>(offset), out, count) != 0)
      throw InputError(name() + ": cannot read");
  }

  std::int32_t file_;
};

}  // namespace

ByteSourcePtr open_bytes(const std::string& path, NamedBy) {
  const std::int32_t file = host_open(path.data(), path.size());
  if (file < 0) throw InputError(path + ": cannot read: No such file or directory");
  return std::make_shared<HostBytes>(path, file);
}

}  // namespace synergraph
