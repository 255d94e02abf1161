#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "synergraph/io/descriptor.h"
#include "synergraph/io/leftovers.h"

namespace synergraph {

/// A new file, open for reading and writing, or no file and the reason in errno.
struct Temporary {
  Descriptor file;
  std::string name;                    ///< in its directory
  std::unique_ptr<Leftover> leftover;  ///< until the file has another name or is removed
};

/// A file in an open directory under a name of its own, ".synergraph-PID-NUMBER" with the ending;
/// it has the mode of any new file. Temporary files of processes of this machine that have died are
/// removed from there. The directory stays open as long as the file is temporary.
Temporary make_temporary(int directory, const std::filesystem::path& ending);

}  // namespace synergraph
