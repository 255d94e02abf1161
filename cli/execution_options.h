#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "synergraph/core/execution.h"

namespace synergraph::cli {

/// --threads and --quiet. Unless it is quiet, progress goes to stderr.
void add_execution_options(CLI::App& command, Execution& execution, const std::string& group = "");

/// Adds --device, which choose_device() resolves.
void add_device_option(CLI::App& command, std::string& device, const std::string& group);

/// Runs `body` with an execution that Ctrl-C, SIGTERM and SIGHUP stop, and then ends the program as
/// the signal would have: for work that leaves nothing behind.
void run_until_stopped(Execution& execution, const std::function<void()>& body);

}  // namespace synergraph::cli
