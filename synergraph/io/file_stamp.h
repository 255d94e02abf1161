#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What changes when a file is written again: its size and its time. Empty where there is none.
std::string file_stamp(const std::string& path, NamedBy named_by = NamedBy::kUser);
/// The same of several. An empty path and "-" name no file.
std::string files_stamp(const std::vector<std::string>& paths, NamedBy named_by = NamedBy::kUser);

/// When a file was written, in nanoseconds since 1970 by the clock of its file system; nothing
/// where there is none.
std::optional<std::int64_t> written_at(const std::string& path);
/// The same, whatever time the file was given: when it was last written, renamed or given a time.
std::optional<std::int64_t> changed_at(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
