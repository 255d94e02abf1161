#include "cli/stop_signals.h"

namespace synergraph::cli {
namespace {

std::atomic<bool> stop_requested{false};
volatile std::sig_atomic_t stop_signal = 0;

void request_stop(int signal) {
  stop_signal = signal;
  stop_requested.store(true);
}

}  // namespace

StopOnSignals::StopOnSignals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopOnSignals::~StopOnSignals() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

const std::atomic<bool>& StopOnSignals::requested() {
  return stop_requested;
}

void StopOnSignals::end_program() {
  (void)std::raise(stop_signal);
}

}  // namespace synergraph::cli
