#pragma once

#include <map>
#include <span>
#include <string>

#include "synergraph/io/tensor_file.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The metadata key of the checksum in a sealed file. The checksum covers all tensors (names,
/// types, shapes and bytes) and all other metadata.
inline constexpr const char* kSealKey = "checksum";

/// Writes a .safetensors file that the program names itself, with a checksum.
void write_sealed_safetensors(const std::string& path, std::span<const TensorData> tensors,
                              std::map<std::string, std::string> metadata);

/// Throws InputError unless the stored checksum matches the content of the file. Reads the whole
/// file.
void check_tensor_seal(const TensorFile& file);

}  // namespace synergraph
#pragma GCC visibility pop
