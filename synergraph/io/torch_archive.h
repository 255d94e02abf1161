#pragma once

#include "synergraph/io/tensor_file_contents.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {

/// Whether an archive is PyTorch's: it has a pickle named data.pkl.
bool is_torch_archive(const ZipArchive& archive);

/// Reads what torch.save wrote (since PyTorch 1.6): a tensor, or dictionaries, lists and tuples of
/// them, at any depth. A tensor's name is the path to it, "model.layers.0.weight"; the numbers,
/// strings and booleans beside the tensors become metadata under their paths. Nothing in the file
/// is executed; a pickle that asks for anything but tensors and plain data is refused.
TensorFileContents read_torch(const ZipArchive& archive);

}  // namespace synergraph
