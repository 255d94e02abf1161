#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace synergraph {

/// A short name for data that changes with them (FNV-1a): 16 hexadecimal digits. It is part of file
/// formats and names: never change it.
class Fingerprint {
 public:
  void add(std::uint32_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }
  /// Byte after byte.
  void add(std::string_view text) {
    for (const char c : text) add(std::uint32_t{static_cast<unsigned char>(c)});
  }
  /// Many bytes, four at a time; those that are left at the end one after the other.
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
