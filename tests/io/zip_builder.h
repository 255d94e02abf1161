#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace synergraph {

/// One member of a zip archive made by hand. What is set here is written as it is, true or not.
struct ZipEntry {
  std::string name;
  std::string data;                              ///< as it lies in the archive
  std::uint16_t method = 0;                      ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;                       ///< 1: encrypted
  std::optional<std::uint32_t> declared = {};    ///< uncompressed size
  std::optional<std::uint32_t> compressed = {};  ///< compressed size
  std::optional<std::uint32_t> checksum = {};
  std::optional<std::uint32_t> offset = {};  ///< of the local header
};

inline std::uint32_t crc32_of(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

/// `size` bytes, little-endian.
inline void append_number(std::string& bytes, std::uint64_t value, int size) {
  for (; size > 0; --size, value >>= 8U) bytes += static_cast<char>(value & 0xffU);
}

inline std::string build_zip(const std::vector<ZipEntry>& entries) {
  std::string bytes;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const auto at = static_cast<std::uint32_t>(bytes.size());
    const auto size = static_cast<std::uint32_t>(entry.data.size());
    std::string common;
    append_number(common, 20, 2);
    append_number(common, entry.flags, 2);
    append_number(common, entry.method, 2);
    append_number(common, 0x00210000U, 4);
    append_number(common, entry.checksum.value_or(crc32_of(entry.data)), 4);
    append_number(common, entry.compressed.value_or(size), 4);
    append_number(common, entry.declared.value_or(size), 4);
    append_number(common, entry.name.size(), 2);
    append_number(common, 0, 2);
    bytes += std::string("PK\x03\x04") + common + entry.name + entry.data;
    directory += std::string("PK\x01\x02");
    append_number(directory, 20, 2);
    directory += common;
    append_number(directory, 0, 10);
    append_number(directory, entry.offset.value_or(at), 4);
    directory += entry.name;
  }
  const std::size_t begin = bytes.size();
  bytes += directory + "PK\x05\x06";
  append_number(bytes, 0, 4);
  append_number(bytes, entries.size(), 2);
  append_number(bytes, entries.size(), 2);
  append_number(bytes, directory.size(), 4);
  append_number(bytes, begin, 4);
  append_number(bytes, 0, 2);
  return bytes;
}

}  // namespace synergraph
