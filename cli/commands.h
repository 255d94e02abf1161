#pragma once

#include <CLI/CLI.hpp>

namespace synergraph::cli {

/// Each command adds itself to the program: its options, its help page and what runs when it is
/// chosen.
void add_analyze_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_completions_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_design_command(CLI::App& app);
void add_families_command(CLI::App& app);
void add_graph_command(CLI::App& app);
void add_heads_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_man_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);
void add_schema_command(CLI::App& app);
void add_status_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_verify_command(CLI::App& app);

/// In the order of the help.
inline constexpr void (*kAddCommands[])(CLI::App& app) = {
    add_analyze_command,   add_compare_command,     add_convert_command, add_graph_command,
    add_families_command,  add_design_command,      add_heads_command,   add_inspect_command,
    add_reproduce_command, add_schema_command,      add_status_command,  add_train_command,
    add_verify_command,    add_completions_command, add_man_command};

}  // namespace synergraph::cli
