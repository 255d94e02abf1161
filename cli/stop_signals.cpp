#include "cli/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace synergraph::cli {
namespace {

std::atomic<bool> stop_requested{false};
volatile std::sig_atomic_t stop_signal = 0;
std::atomic<double> stop_time{0.0};
std::atomic<bool> told_at_terminal{false};
static_assert(std::atomic<double>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// Signals as near as this are one request: timeout sends its own to the program and to its group.
constexpr double kSameRequest = 0.3;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void take_default_action(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  (void)std::raise(signal);
}

/// Calls only what a signal's handler may.
void request_stop(int signal) {
  if (stop_requested.load()) {
    if (now() - stop_time.load() > kSameRequest) take_default_action(signal);
    return;
  }
  stop_signal = signal;
  stop_time.store(now());
  stop_requested.store(true);
  constexpr std::string_view note = "\nstopping in good order; again to stop at once\n";
  if (told_at_terminal.load() && write(STDERR_FILENO, note.data(), note.size()) < 0) return;
}

}  // namespace

StopOnSignals::StopOnSignals() {
  told_at_terminal.store(isatty(STDERR_FILENO) != 0);
  for (std::size_t k = 0; k < kSignals.size(); ++k) {
    sigaction(kSignals[k], nullptr, &before_[k]);
    const bool kept = kSignals[k] == SIGHUP || kSignals[k] == SIGINT;
    if (kept && before_[k].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = kSignals[k] == SIGPIPE ? SIG_IGN : request_stop;
    sigaction(kSignals[k], &action, nullptr);
  }
}

StopOnSignals::~StopOnSignals() {
  for (std::size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &before_[k], nullptr);
}

bool StopOnSignals::requested() {
  return stop_requested;
}

void StopOnSignals::end_program() {
  take_default_action(stop_signal);
  // The first process of a container survives its default actions.
  std::fflush(nullptr);
  _exit(128 + stop_signal);
}

}  // namespace synergraph::cli
