#pragma once

#include <string>
#include <vector>

namespace synergraph::cli {

/// A path and the option that it was given by.
struct NamedPath {
  std::string option;
  std::string path;  ///< empty: not given
};

/// To fail before any work. UsageError for an output that is an input or another output, InputError
/// for one that cannot be written. "-", a standard stream, is no file.
void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs);

}  // namespace synergraph::cli
