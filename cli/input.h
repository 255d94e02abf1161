#pragma once

#include <cstddef>
#include <string>

#include "synergraph/io/tensor_file.h"

namespace synergraph::cli {

/// What "-" stands for where a command reads a file.
inline constexpr const char* kStandardInput = "-";

/// The text of a file of at most so many bytes, or of standard input.
std::string read_text(const std::string& path, std::size_t most);

/// The longest text of a graph that is read. Real graphs are far shorter; a device or a file that
/// is no graph ends here.
inline constexpr std::size_t kMostGraphBytes = std::size_t{1} << 28U;

/// The bytes of a file, or of standard input, which is read to its end into memory.
ByteSourcePtr open_input(const std::string& path);

/// The tensors in them.
TensorFile open_tensors(const std::string& path);

/// What messages call it.
std::string input_name(const std::string& path);

/// What a page calls it: the same without folders.
std::string input_title(const std::string& path);

}  // namespace synergraph::cli
