#pragma once

#include <array>
#include <csignal>

namespace synergraph::cli {

/// Ctrl-C, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 ask for an orderly end while this lives, and a
/// second one, after a moment, ends the program at once; it leaves no temporary files. Ctrl-C and
/// SIGHUP stay ignored where they were, as in a shell's background and under nohup. A pipe that
/// nobody reads any more ends nothing. One at a time.
class StopOnSignals {
 public:
  StopOnSignals();
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  /// Whether a signal has come.
  static bool requested();

  /// Ends the program as the signal that came would have ended it, in a shell's words with status
  /// 128 + signal.
  [[noreturn]] static void end_program();

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// From now on every signal that ends the program, unless it is ignored, first removes the
/// program's temporary files, and the programs that it has started. Call it first.
void leave_nothing_on_signals();

}  // namespace synergraph::cli
