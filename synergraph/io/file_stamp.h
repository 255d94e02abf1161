#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// What changes when a file is written again: its size and its time. Empty where there is none.
std::string file_stamp(const std::string& path);
/// The same of several. An empty path and "-" name no file.
std::string files_stamp(const std::vector<std::string>& paths);

}  // namespace synergraph
#pragma GCC visibility pop
