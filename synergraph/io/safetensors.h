#pragma once

#include <map>
#include <span>
#include <string>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a .safetensors file: an 8-byte length, a JSON header, the data. As the reference
/// implementation does, it refuses headers above 100 MB, names that occur twice, and tensors that
/// overlap or leave a gap.
TensorFileContents read_safetensors(const ByteSourcePtr& bytes);

/// Writes a .safetensors file atomically. The bytes depend on the arguments only, not on the
/// tensors' order: metadata and tensors are sorted by name (tensors by element size first, which
/// keeps every tensor aligned) and the header is padded to a multiple of 8 bytes.
void write_safetensors(const std::string& path, std::span<const TensorData> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       NamedBy named_by = NamedBy::kUser);

/// The same bytes piece by piece, for tensors larger than memory.
void stream_safetensors(const std::string& path, std::span<const TensorStream> tensors,
                        const std::map<std::string, std::string>& metadata = {},
                        NamedBy named_by = NamedBy::kUser);

}  // namespace synergraph
#pragma GCC visibility pop
