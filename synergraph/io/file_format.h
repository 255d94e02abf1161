#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/io/byte_source.h"
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

/// One format of tensor files. Reading, messages, help texts, the page and the docs use the rows of
/// file_formats(). A new format needs a parser and one row there. A format that is also written
/// needs one more row in file_writer.cpp.
struct FormatRow {
  FileFormat format;
  std::span<const std::string_view> endings;  ///< the usual ending first
  std::string_view about;                     ///< what is read and written of it, in the docs
  bool in_page = true;                        ///< the interactive page reads it, too
  /// Returns whether a file with these first bytes has the format. For a zip file, the rows of both
  /// zip formats return true.
  bool (*recognises)(std::string_view head);
  /// Reads the contents of the file. The reader of a zip archive decides which of the two zip
  /// formats the archive has.
  std::pair<FileFormat, TensorFileContents> (*read)(const ByteSourcePtr& bytes);
};

/// All formats, in the order of messages and help texts.
std::span<const FormatRow> file_formats();

/// Returns the row for a file, chosen by the first bytes or else by the name. With a row chosen by
/// name, the reader gives the most helpful message. Returns null for an unknown format.
const FormatRow* format_of(const ByteSource& bytes);

/// The usual endings, for messages and help texts: ".npy, .npz, .safetensors or .pt".
std::string listed_endings();
/// Joins words as in "a, b or c".
std::string alternatives(std::vector<std::string_view> words);

}  // namespace synergraph
#pragma GCC visibility pop
