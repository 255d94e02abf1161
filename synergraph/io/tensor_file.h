#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/tensor.h"
#include "synergraph/io/tensor_file_contents.h"

#pragma GCC visibility push(default)
namespace synergraph {

enum class FileFormat { kNpy, kNpz, kSafetensors, kTorch };

template <>
inline constexpr NameTable<FileFormat, 4> kNamesOf<FileFormat>{{
    {FileFormat::kNpy, "NumPy array"},
    {FileFormat::kNpz, "NumPy archive"},
    {FileFormat::kSafetensors, "safetensors"},
    {FileFormat::kTorch, "PyTorch archive"},
}};

/// Whether a file is, by its first bytes or else by its name, one of a format that TensorFile
/// knows.
bool is_tensor_file(const ByteSource& bytes);

/// The tensors in a file of any format that we read. Opening reads the headers only; the data stays
/// in the file until a tensor is read. Every malformed file is an InputError of one line.
class TensorFile {
 public:
  /// Opens a .npy, .npz, .safetensors or .pt file; its content decides which, not its name.
  static TensorFile open(const std::string& path, NamedBy named_by = NamedBy::kUser);
  static TensorFile open(const ByteSourcePtr& bytes);

  const std::string& path() const { return path_; }
  FileFormat format() const { return format_; }

  /// In the order of the file. No two have the same name.
  const std::vector<Tensor>& tensors() const { return contents_.tensors; }
  const std::vector<SkippedTensor>& skipped() const { return contents_.skipped; }
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }

  /// The tensor of that name, or nullptr.
  const Tensor* find(std::string_view name) const;

  /// The tensor of that name; InputError that says which names there are.
  const Tensor& at(std::string_view name) const;

  /// The prefix P such that P + name is in the file, for checkpoints that keep their parameters
  /// under a key: "" or "model." or "state_dict.module.". InputError when no tensor or more than
  /// one fits (the usual keys, such as "model.", are preferred).
  std::string prefix_of(std::string_view name) const;

 private:
  TensorFile(std::string path, FileFormat format, TensorFileContents contents);

  std::string path_;
  FileFormat format_;
  TensorFileContents contents_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace synergraph
#pragma GCC visibility pop
