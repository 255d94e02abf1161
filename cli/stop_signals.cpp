#include "cli/stop_signals.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "synergraph/io/leftovers.h"

namespace synergraph::cli {
namespace {

std::atomic<bool> stop_requested{false};
volatile std::sig_atomic_t stop_signal = 0;
std::atomic<double> stop_time{0.0};
std::atomic<bool> told_at_terminal{false};
static_assert(std::atomic<double>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// Signals as near as this are one request: timeout sends its own to the program and to its group.
constexpr double kSameRequest = 0.3;

// Signals that end no process. SIGKILL and SIGSTOP cannot be caught.
constexpr std::array kHarmless = {SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Calls only what a signal's handler may, as do all handlers.
[[noreturn]] void take_default_action(int signal) {
  remove_leftovers();
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);  // a handler's own signal waits for its end
  (void)std::raise(signal);
  _exit(128 + signal);  // the first process of a container survives its default actions
}

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
  std::fflush(nullptr);
  take_default_action(stop_signal);
}

void leave_nothing_on_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (std::find(kHarmless.begin(), kHarmless.end(), signal) != kHarmless.end()) continue;
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
        before.sa_handler != SIG_DFL)
      continue;
    struct sigaction action {};
    action.sa_handler = take_default_action;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace synergraph::cli
