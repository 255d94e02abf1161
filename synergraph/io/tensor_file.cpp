#include "synergraph/io/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/torch_archive.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {
namespace {

/// What a file is, by its first bytes.
enum class Content { kNpy, kZip, kSafetensors, kOldTorch, kUnknown };

Content detect(const ByteSource& bytes) {
  const std::string head = bytes.read_string(0, std::min<std::uint64_t>(bytes.size(), 9));
  if (head.starts_with("\x93NUMPY")) return Content::kNpy;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return Content::kZip;
  if (head.starts_with("\x80\x02\x8a\x0a")) return Content::kOldTorch;
  if (head.size() == 9 && head[8] == '{') return Content::kSafetensors;
  // Not recognised: the ending chooses the reader whose message helps most.
  if (bytes.name().ends_with(".npy")) return Content::kNpy;
  if (bytes.name().ends_with(".safetensors")) return Content::kSafetensors;
  for (const char* ending : {".npz", ".pt", ".pth"}) {
    if (bytes.name().ends_with(ending)) return Content::kZip;
  }
  return Content::kUnknown;
}

std::pair<FileFormat, TensorFileContents> parse(const ByteSourcePtr& bytes) {
  switch (detect(*bytes)) {
    case Content::kNpy:
      return {FileFormat::kNpy, read_npy(bytes)};
    case Content::kSafetensors:
      return {FileFormat::kSafetensors, read_safetensors(bytes)};
    case Content::kZip: {
      const auto archive = ZipArchive::open(bytes);
      if (is_torch_archive(*archive)) return {FileFormat::kTorch, read_torch(*archive)};
      return {FileFormat::kNpz, read_npz(*archive)};
    }
    case Content::kOldTorch:
      throw InputError(bytes->name() +
                       ": a PyTorch file from before version 1.6; load it and torch.save it again");
    default:
      throw InputError(bytes->name() +
                       ": unknown format: expected .npy, .npz, .safetensors or a PyTorch archive");
  }
}

}  // namespace

bool is_tensor_file(const ByteSource& bytes) {
  return detect(bytes) != Content::kUnknown;
}

TensorFile::TensorFile(std::string path, FileFormat format, TensorFileContents contents)
    : path_(std::move(path)), format_(format), contents_(std::move(contents)) {
  for (std::size_t i = 0; i < contents_.tensors.size(); ++i) {
    const std::string& name = contents_.tensors[i].name();
    if (!index_.emplace(name, i).second) {
      throw InputError(fmt::format("{}: tensor {} occurs twice", path_, quoted_text(name)));
    }
  }
}

TensorFile TensorFile::open(const std::string& path, NamedBy named_by) {
  return open(open_bytes(path, named_by));
}

TensorFile TensorFile::open(const ByteSourcePtr& bytes) {
  auto [format, contents] = parse(bytes);
  return {bytes->name(), format, std::move(contents)};
}

const Tensor* TensorFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &contents_.tensors[found->second];
}

const Tensor& TensorFile::at(std::string_view name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  for (const SkippedTensor& skipped : contents_.skipped) {
    if (skipped.name == name) {
      throw InputError(fmt::format("{}: tensor {}: {}", path_, quoted_text(name), skipped.reason));
    }
  }
  constexpr std::size_t kShown = 5;
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors()) {
    if (names.size() == kShown) {
      names.push_back(fmt::format("{} more", tensors().size() - kShown));
      break;
    }
    names.push_back(quoted_text(tensor.name()));
  }
  throw InputError(fmt::format("{}: no tensor {}: it has {}", path_, quoted_text(name),
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::string TensorFile::prefix_of(std::string_view name) const {
  if (find(name) != nullptr) return "";
  std::vector<std::string> prefixes;
  for (const Tensor& tensor : tensors()) {
    const std::string& full = tensor.name();
    if (full.size() > name.size() && full.ends_with(name) &&
        full[full.size() - name.size() - 1] == '.') {
      prefixes.push_back(full.substr(0, full.size() - name.size()));
    }
  }
  if (prefixes.size() == 1) return prefixes.front();
  for (const char* usual : {"model.", "state_dict.", "model_state_dict.", "module."}) {
    const auto starts = [&](const std::string& prefix) { return prefix.starts_with(usual); };
    if (std::count_if(prefixes.begin(), prefixes.end(), starts) == 1) {
      return *std::find_if(prefixes.begin(), prefixes.end(), starts);
    }
  }
  if (prefixes.empty()) (void)at(name);
  throw InputError(fmt::format("{}: {} tensors are called {} after a prefix such as {}", path_,
                               prefixes.size(), quoted_text(name), quoted_text(prefixes.front())));
}

}  // namespace synergraph
