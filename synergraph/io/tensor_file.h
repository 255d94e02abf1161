#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/file_format.h"
#include "synergraph/io/tensor.h"
#include "synergraph/io/tensor_file_contents.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns whether a file has a format that TensorFile reads, by its first bytes or else by its
/// name.
bool is_tensor_file(const ByteSource& bytes);

/// The tensors in a file of any supported format. Opening reads only the headers; the data stays in
/// the file until a caller reads a tensor. Every malformed file gives an InputError of one line.
class TensorFile {
 public:
  /// Opens a file of a format in file_formats(). The content decides the format, not the name.
  static TensorFile open(const std::string& path, NamedBy named_by = NamedBy::kUser);
  static TensorFile open(const ByteSourcePtr& bytes);

  const std::string& path() const { return path_; }
  FileFormat format() const { return format_; }

  /// The tensors in the order of the file. No two tensors have the same name.
  const std::vector<Tensor>& tensors() const { return contents_.tensors; }
  const std::vector<SkippedTensor>& skipped() const { return contents_.skipped; }
  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }

  /// Returns the tensor of that name, or nullptr.
  const Tensor* find(std::string_view name) const;

  /// Returns the tensor of that name. Otherwise throws an InputError that lists the names in the
  /// file.
  const Tensor& at(std::string_view name) const;

  /// Returns the prefix P for which the file contains P + name. Some checkpoints keep their
  /// parameters under a key: "" or "model." or "state_dict.module.". Throws InputError if no tensor
  /// or more than one tensor fits; the usual keys, such as "model.", are preferred.
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
