#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace synergraph::cli {

/// Ctrl-C, SIGTERM and SIGHUP (unless nohup has it ignored) ask for an orderly end while this
/// lives, and a pipe that nobody reads any more ends nothing. One at a time.
class StopOnSignals {
 public:
  StopOnSignals();
  ~StopOnSignals();
  StopOnSignals(const StopOnSignals&) = delete;
  StopOnSignals& operator=(const StopOnSignals&) = delete;

  /// Set once a signal has come.
  static const std::atomic<bool>& requested();

  /// Ends the program as the signal that came would have ended it.
  static void end_program();

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace synergraph::cli
