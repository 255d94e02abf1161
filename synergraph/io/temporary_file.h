#pragma once

#include <filesystem>
#include <string>

namespace synergraph {

/// A new file, open for reading and writing, or descriptor -1 and the reason in errno.
struct Temporary {
  int descriptor = -1;
  std::string path;
};

/// A file in the directory under a name of its own, ".synergraph-PID-NUMBER" with the ending; it
/// has the mode of any new file. Temporary files of processes of this machine that have died are
/// removed from there.
Temporary make_temporary(const std::filesystem::path& directory,
                         const std::filesystem::path& ending);

}  // namespace synergraph
