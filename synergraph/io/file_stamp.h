#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/io/named_by.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A text of the file's size and time, which changes when the file is written again. The text is
/// empty if there is no file.
std::string file_stamp(const std::string& path, NamedBy named_by = NamedBy::kUser);
/// The stamp of several files. An empty path and "-" name no file.
std::string files_stamp(const std::vector<std::string>& paths, NamedBy named_by = NamedBy::kUser);

/// The modification time of a file, in nanoseconds since 1970 by the clock of its file system.
/// Nothing if there is no file.
std::optional<std::int64_t> written_at(const std::string& path);
/// The time of the last change of any kind, in the same unit. A write, a rename or a new
/// modification time counts as a change.
std::optional<std::int64_t> changed_at(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
