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
  for (std::size_t k = 0; k < kSignals.size(); ++k) {
    sigaction(kSignals[k], nullptr, &before_[k]);
    if (kSignals[k] == SIGHUP && before_[k].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = kSignals[k] == SIGPIPE ? SIG_IGN : request_stop;
    sigaction(kSignals[k], &action, nullptr);
  }
}

StopOnSignals::~StopOnSignals() {
  for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &before_[k], nullptr);
}

const std::atomic<bool>& StopOnSignals::requested() {
  return stop_requested;
}

void StopOnSignals::end_program() {
  (void)std::raise(stop_signal);
}

}  // namespace synergraph::cli
