#include "cli/execution_options.h"

#include "cli/stop_signals.h"

namespace synergraph::cli {

Execution execution_of(const ExecutionSettings& settings) {
  Execution execution;
  execution.threads = settings.threads;
  execution.progress.stream = settings.quiet ? nullptr : stderr;
  return execution;
}

void run_until_stopped(Execution& execution, const std::function<void()>& body) {
  execution.stop = StopOnSignals::requested;
  try {
    const StopOnSignals signals;
    body();
    return;
  } catch (const Stopped&) {
  }
  StopOnSignals::end_program();
}

}  // namespace synergraph::cli
