#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace synergraph {

/// A short name for data that changes with them (FNV-1a): 16 hexadecimal digits. It is part of file
/// formats and names: never change it.
class Fingerprint {
 public:
  void add(std::uint32_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace synergraph
