#include "synergraph/cluster/sealed_result.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/split.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/byte_source.h"

namespace synergraph {
namespace {

constexpr std::string_view kPart = "synergraph part 3";
constexpr const char* kJsonEnd = ",\n \"checksum\": \"{}\"\n}}\n";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kLargestJson = std::size_t{1} << 26U;
constexpr std::size_t kLongestLine = 1U << 12U;

std::string part_checksum(std::string_view bytes) {
  Fingerprint fingerprint;
  fingerprint.add_words(bytes);
  return fingerprint.text();
}

std::string line_begin(std::string_view of, std::uint64_t size) {
  return fmt::format("{}\t{}\t{} bytes\t", kPart, of, size);
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string seal_json(const std::string& text) {
  return text + fmt::format(kJsonEnd, fingerprint_of(text));
}

void check_json_seal(const std::string& text) {
  const std::string any = fmt::format(kJsonEnd, std::string(kDigits, '0'));
  const std::string_view body =
      std::string_view(text).substr(0, text.size() - std::min(any.size(), text.size()));
  if (std::string_view(text).substr(body.size()) == fmt::format(kJsonEnd, fingerprint_of(body)))
    return;
  throw InputError(text.find("\n \"checksum\": ") == std::string::npos
                       ? "it has no checksum"
                       : "its checksum does not match its contents");
}

std::string seal_part(std::string_view of, std::string_view bytes) {
  std::string part = line_begin(of, bytes.size()) + part_checksum(bytes) + '\n';
  return part.append(bytes);
}

std::string_view open_part(std::string_view of, std::string_view part) {
  const std::string_view line = first_line(part);
  const std::string_view bytes = part.substr(std::min(line.size() + 1, part.size()));
  if (line != line_begin(of, bytes.size()) + part_checksum(bytes)) {
    const auto fields = split(line, '\t');
    if (fields.size() == 4 && fields[0] == kPart && fields[1] != of)
      throw InputError(fmt::format("it is that of {}", std::string(fields[1])));
    throw InputError("its checksum does not match its contents");
  }
  return bytes;
}

bool looks_whole(const std::string& path) {
  try {
    const ByteSourcePtr bytes = open_bytes(path, NamedBy::kProgram);
    const std::string begin = bytes->read_string(
        0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes->size(), kLongestLine)));
    if (!begin.starts_with(kPart)) {
      check_json_seal(read_regular_file(path, kLargestJson));
      return true;
    }
    const std::string of = std::filesystem::path(path).stem().string();
    if (bytes->size() <= kLargestJson) {
      (void)open_part(of, read_regular_file(path, kLargestJson));
      return true;
    }
    const std::string_view line = first_line(begin);
    const std::uint64_t size =
        bytes->size() - std::min<std::uint64_t>(line.size() + 1, bytes->size());
    return line.starts_with(line_begin(of, size));
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace synergraph
