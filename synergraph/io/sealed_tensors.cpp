#include "synergraph/io/sealed_tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_stream.h"

namespace synergraph {
namespace {

/// Texts end with a byte that is in none of them, so that no two lists of texts are alike.
void add_text(Fingerprint& fingerprint, std::string_view text) {
  constexpr std::uint32_t kEnd = 256;
  fingerprint.add(text);
  fingerprint.add(kEnd);
}

/// Of tensors in any order.
std::string checksum_of(std::vector<TensorStream> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorStream& a, const TensorStream& b) { return a.info.name < b.info.name; });
  Fingerprint fingerprint;
  for (const auto& [key, value] : metadata) {
    if (key == kSealKey) continue;
    add_text(fingerprint, key);
    add_text(fingerprint, value);
  }
  for (const TensorStream& tensor : tensors) {
    add_text(fingerprint, tensor.info.name);
    add_text(fingerprint, name_of(tensor.info.dtype));
    add_text(fingerprint, to_string(tensor.info.shape));
    StreamReader bytes(tensor);
    for (auto piece = bytes.next(); !piece.empty(); piece = bytes.next())
      fingerprint.add_words({reinterpret_cast<const char*>(piece.data()), piece.size()});
  }
  return fingerprint.text();
}

}  // namespace

void write_sealed_safetensors(const std::string& path, std::span<const TensorData> tensors,
                              std::map<std::string, std::string> metadata) {
  metadata[kSealKey] = checksum_of(streams_of(tensors), metadata);
  write_safetensors(path, tensors, metadata, NamedBy::kProgram);
}

void check_tensor_seal(const TensorFile& file) {
  const auto seal = file.metadata().find(kSealKey);
  if (seal == file.metadata().end())
    throw InputError(fmt::format("{}: it has no checksum", file.path()));
  std::vector<TensorStream> tensors;
  for (const Tensor& tensor : file.tensors()) tensors.push_back(stream_of(tensor));
  if (!file.skipped().empty() || seal->second != checksum_of(std::move(tensors), file.metadata()))
    throw InputError(
        fmt::format("{}: it is damaged: its checksum does not match its contents", file.path()));
}

}  // namespace synergraph
