#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace synergraph {

/// A hash of data (FNV-1a), written as 16 hexadecimal digits. File formats and file names contain
/// fingerprints: never change the algorithm.
class Fingerprint {
 public:
  void add(std::uint32_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }
  /// Adds a text byte by byte.
  void add(std::string_view text) {
    for (const char c : text) add(std::uint32_t{static_cast<unsigned char>(c)});
  }
  /// Adds many bytes, four at a time. The remaining bytes at the end are added one by one.
  void add_words(std::string_view bytes) {
    for (; bytes.size() >= sizeof(std::uint32_t); bytes.remove_prefix(sizeof(std::uint32_t))) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      add(word);
    }
    add(bytes);
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

inline std::string fingerprint_of(std::string_view text) {
  Fingerprint fingerprint;
  fingerprint.add(text);
  return fingerprint.text();
}

}  // namespace synergraph
