#include "synergraph/io/file_writer.h"

#include "synergraph/io/file_format.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"

namespace synergraph {
namespace {

using Tensors = std::span<const TensorStream>;
using Metadata = std::map<std::string, std::string>;

const FileWriter kWriters[] = {
    {".npy",
     [](const std::string& path, Tensors tensors, const Metadata&) {
       stream_npy(path, tensors.front());
     },
     false, false},
    {".npz",
     [](const std::string& path, Tensors tensors, const Metadata&) { stream_npz(path, tensors); },
     true, false},
    {".safetensors",
     [](const std::string& path, Tensors tensors, const Metadata& metadata) {
       stream_safetensors(path, tensors, metadata);
     },
     true, true},
};

}  // namespace

const FileWriter* find_writer(std::string_view ending) {
  for (const FileWriter& writer : kWriters)
    if (writer.ending == ending) return &writer;
  return nullptr;
}

std::string written_endings() {
  std::vector<std::string_view> endings;
  for (const FileWriter& writer : kWriters) endings.push_back(writer.ending);
  return alternatives(std::move(endings));
}

}  // namespace synergraph
