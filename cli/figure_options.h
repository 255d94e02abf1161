#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "synergraph/report/figure.h"

namespace synergraph::cli {

/// The options that say how a figure looks, shared by every command that draws.
struct FigureArguments {
  std::string file;
  std::string size;
  std::string title;
  std::vector<std::string> names;

  /// --figure and how it looks. `draws`: what is drawn; `named`: whose names can be set.
  void add_to(CLI::App& command, const std::string& draws, const std::string& named);

  /// --figure-size and --figure-title alone, for a command that always draws.
  void add_style_to(CLI::App& command, const char* group);

  bool wanted() const { return !file.empty(); }

  /// UsageError for a size that is none.
  FigureOptions resolve() const;
};

}  // namespace synergraph::cli
