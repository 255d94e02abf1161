#include "cli/input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph::cli {
namespace {

constexpr std::size_t kMagic = 16;  ///< bytes that tell what a file is

/// Bytes of tensors on standard input at most: half of the machine's memory.
std::size_t most_tensor_bytes() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto size = static_cast<std::uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  return static_cast<std::size_t>(std::max<std::uint64_t>(pages * size / 2, kMostGraphBytes));
}

/// `most` bytes, or more where they begin like a file of tensors and `tensors` allows it.
std::string read_standard_input(std::size_t most, bool tensors = false) {
  std::string bytes;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(input_name(kStandardInput), "cannot read");
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() <= most) continue;
    if (tensors && is_tensor_file(*memory_bytes("", bytes.substr(0, kMagic)))) {
      tensors = false;
      most = most_tensor_bytes();
    } else {
      throw InputError(fmt::format(
          "standard input holds more than {} bytes. Save tensors to a file and pass its "
          "name: tensor files may be larger than the memory",
          most));
    }
  }
}

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  return path == kStandardInput ? read_standard_input(most) : read_file(path, most);
}

ByteSourcePtr open_input(const std::string& path) {
  if (path != kStandardInput) return open_bytes(path);
  return memory_bytes(input_name(path), read_standard_input(kMostGraphBytes, true));
}

TensorFile open_tensors(const std::string& path) {
  return TensorFile::open(open_input(path));
}

std::string input_name(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

std::string input_title(const std::string& path) {
  return std::filesystem::path(input_name(path)).filename().string();
}

}  // namespace synergraph::cli
