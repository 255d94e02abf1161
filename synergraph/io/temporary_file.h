#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "synergraph/io/descriptor.h"
#include "synergraph/io/leftovers.h"

namespace synergraph {

/// A new file, open for reading and writing; or no file, with the reason in errno.
struct Temporary {
  Descriptor file;
  std::string name;                    ///< name in its directory
  std::unique_ptr<Leftover> leftover;  ///< set until the file gets another name or is removed
};

/// Creates a file with a unique name, ".synergraph-PID-NUMBER" with the ending, in an open
/// directory. The file has the mode of any new file. The function also removes temporary files that
/// dead processes of this machine left in the directory. The directory must stay open as long as
/// the file is temporary.
Temporary make_temporary(int directory, const std::filesystem::path& ending);

}  // namespace synergraph
