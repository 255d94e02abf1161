#include "synergraph/io/byte_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

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

ByteSourcePtr memory_bytes(std::string name, std::string bytes) {
  return std::make_shared<MemoryBytes>(std::move(name), std::move(bytes));
}

}  // namespace synergraph
