#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace synergraph::cli {

/// An option that names a file to write, among the options on output.
CLI::Option* add_output(CLI::App& command, const char* option, std::string& path,
                        const std::string& about);

/// A path and the option that it was given by.
struct NamedPath {
  std::string option;
  std::string path;  ///< empty: not given
};

/// To fail before any work. UsageError for an output that is an input or another output, InputError
/// for one that cannot be written. "-", a standard stream, is no file.
void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs);

}  // namespace synergraph::cli
