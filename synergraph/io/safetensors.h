#pragma once

#include <map>
#include <span>
#include <string>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a .safetensors file: an 8-byte length, a JSON header, the data. Like the reference
/// implementation, the reader refuses headers above 100 MB, duplicate names, and tensors that
/// overlap or leave a gap.
TensorFileContents read_safetensors(const ByteSourcePtr& bytes);

/// Writes a .safetensors file atomically. The bytes depend only on the arguments and not on the
/// order of the tensors. The writer sorts metadata by name, and tensors by element size and then by
/// name; this order keeps every tensor aligned. The writer pads the header to a multiple of 8
/// bytes.
void write_safetensors(const std::string& path, std::span<const TensorData> tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       NamedBy named_by = NamedBy::kUser);

/// Writes the bytes of write_safetensors() piece by piece, for tensors larger than memory.
void stream_safetensors(const std::string& path, std::span<const TensorStream> tensors,
                        const std::map<std::string, std::string>& metadata = {},
                        NamedBy named_by = NamedBy::kUser);

}  // namespace synergraph
#pragma GCC visibility pop
