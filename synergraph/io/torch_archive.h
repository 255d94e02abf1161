#pragma once

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {

/// Returns whether PyTorch wrote an archive: such an archive has a pickle named data.pkl.
bool is_torch_archive(const ZipArchive& archive);

/// Reads a file of torch.save (since PyTorch 1.6): a tensor, or nested dictionaries, lists and
/// tuples of tensors. The name of a tensor is its path, "model.layers.0.weight". Numbers, strings
/// and booleans beside the tensors become metadata under their paths. The reader executes nothing
/// in the file. The reader refuses a pickle that asks for anything but tensors and plain data.
TensorFileContents read_torch(const ZipArchive& archive);

}  // namespace synergraph
