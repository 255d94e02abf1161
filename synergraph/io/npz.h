#pragma once

#include <span>
#include <string>
#include <vector>

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/tensor_stream.h"
#include "synergraph/io/zip_archive.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads the .npy members of a .npz archive, stored or deflated. Each tensor has the name of its
/// member without the ending.
TensorFileContents read_npz(const ZipArchive& archive);

/// Writes a .npz archive atomically, uncompressed and without a date. Equal tensors give equal
/// bytes.
void write_npz(const std::string& path, std::span<const TensorData> tensors);

/// A member with one text of ASCII, which NumPy reads as an array of bytes without dimensions.
struct NpzText {
  std::string name;
  std::string text;
};

/// Writes the bytes of write_npz() piece by piece, for tensors larger than memory. Texts follow the
/// tensors.
void stream_npz(const std::string& path, std::span<const TensorStream> tensors,
                const std::vector<NpzText>& texts = {});

}  // namespace synergraph
#pragma GCC visibility pop
