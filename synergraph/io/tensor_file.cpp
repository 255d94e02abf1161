#include "synergraph/io/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph {

bool is_tensor_file(const ByteSource& bytes) {
  return format_of(bytes) != nullptr;
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
  const FormatRow* row = format_of(*bytes);
  if (row == nullptr)
    throw InputError(
        fmt::format("{}: unknown format; expected {}", bytes->name(), listed_endings()));
  auto [format, contents] = row->read(bytes);
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
