#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "synergraph/core/execution.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph::cli {

/// --threads and --quiet. Unless it is quiet, progress goes to stderr.
void add_execution_options(CLI::App& command, Execution& execution, const std::string& group = "");

/// --device and --precision.
struct DeviceArguments {
  std::string name{kAutomatic};
  std::string precision{name_of(Precision::kTf32)};

  void add_to(CLI::App& command, const std::string& group);
  /// For models of these shapes, each with so many sequences; see choose_device().
  Device choose(std::span<const FleetSettings> shapes, int sequences) const;
};

/// Runs `body` with an execution that Ctrl-C and the other signals of StopOnSignals stop, and then
/// ends the program as the signal would have: for work that leaves nothing behind.
void run_until_stopped(Execution& execution, const std::function<void()>& body);

}  // namespace synergraph::cli
