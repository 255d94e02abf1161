// What a page does not read: see synergraph/io/torch_archive.cpp.

#include "synergraph/io/torch_archive.h"

#include "synergraph/core/error.h"

namespace synergraph {

bool is_torch_archive(const ZipArchive& archive) {
  for (const ZipArchive::Member& member : archive.members())
    if (member.name == "data.pkl" || member.name.ends_with("/data.pkl")) return true;
  return false;
}

TensorFileContents read_torch(const ZipArchive& archive) {
  throw InputError(
      archive.path() +
      ": PyTorch archives are not read here: synergraph convert makes .safetensors of them");
}

}  // namespace synergraph
