#pragma once

#include <span>
#include <string>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"
#include "synergraph/io/zip_archive.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a .npz archive: its .npy members, stored or deflated, named without the ending.
TensorFileContents read_npz(const ZipArchive& archive);

/// Writes a .npz archive atomically, uncompressed and without a date: the same tensors give the
/// same bytes.
void write_npz(const std::string& path, std::span<const TensorData> tensors);

/// The same bytes piece by piece, for tensors larger than memory.
void stream_npz(const std::string& path, std::span<const TensorStream> tensors);

}  // namespace synergraph
#pragma GCC visibility pop
