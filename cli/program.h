#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace synergraph::cli {

/// The program with all of its commands.
void add_commands(CLI::App& app);

/// Refuses what names no command or no option of its command: a UsageError says what was not
/// understood, what is near to it and what there is. "help" and "help COMMAND" become "--help".
/// `arguments` are those after the program's name.
std::vector<std::string> understood(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace synergraph::cli
