#pragma once

#include <map>
#include <span>
#include <string>

#include "synergraph/io/tensor_file.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The key in the metadata of a sealed file: a checksum of all tensors (names, types, shapes and
/// bytes) and of all other metadata.
inline constexpr const char* kSealKey = "checksum";

/// Writes a .safetensors file that the program names itself, with a checksum.
void write_sealed_safetensors(const std::string& path, std::span<const TensorData> tensors,
                              std::map<std::string, std::string> metadata);

/// InputError unless the file has the checksum of what it holds. All of it is read.
void check_tensor_seal(const TensorFile& file);

}  // namespace synergraph
#pragma GCC visibility pop
