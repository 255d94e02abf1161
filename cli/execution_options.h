#pragma once

#include <functional>

#include "synergraph/core/execution_settings.h"

namespace synergraph::cli {

/// How work runs. Unless it is quiet, progress goes to stderr.
Execution execution_of(const ExecutionSettings& settings);

/// Runs `body` with an execution that Ctrl-C and the other signals of StopOnSignals stop, and then
/// ends the program as the signal would have: for work that leaves nothing behind.
void run_until_stopped(Execution& execution, const std::function<void()>& body);

}  // namespace synergraph::cli
