#pragma once

#include <atomic>
#include <csignal>

namespace synergraph::cli {

/// Ctrl-C and SIGTERM ask for an orderly end while this lives. One at a time.
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
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace synergraph::cli
