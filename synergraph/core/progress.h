#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// Formats a duration for people: "3.4 s", "5 min 07 s", "2 h 05 min".
std::string format_duration(double seconds);

/// Where and how often a Progress reports. The default options report nothing.
struct ProgressOptions {
  std::FILE* stream = nullptr;  ///< output stream for progress lines
  double interval = 10.0;       ///< seconds between lines when the stream is not a terminal
  std::string prefix = {};      ///< text at the start of each line, e.g. the name of the task
  /// Receives every update, from one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total, const std::string& detail)> listener =
      nullptr;
};

/// Reports the progress, the speed and the remaining time of long work. On a terminal, Progress
/// redraws one line in place. In a file or pipe, Progress writes plain lines, one per interval. The
/// speed counts from the first finished unit. Preparation such as reading files does not enter the
/// speed.
class Progress {
 public:
  /// `unit` names the counted things, e.g. "steps". `done` of `total` units may already be
  /// finished.
  Progress(std::string unit, std::uint64_t total, std::uint64_t done = 0,
           ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `done` units are finished. `detail` describes the current state. The call is
  /// cheap when nothing needs printing.
  void update(std::uint64_t done, const std::string& detail);
  /// Reports `count` more finished units. Several threads may call add() at once. No thread may
  /// call another member function meanwhile.
  void add(std::uint64_t count);
  /// Reports the state within the next unit, from any thread, as add() does.
  void tell(const std::string& detail);
  /// Prints a separate line above the redrawn line.
  void note(const std::string& line);
  /// Prints the last state, even if the interval has not passed.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void print();

  std::string unit_;
  std::uint64_t total_;
  std::uint64_t first_;
  std::uint64_t done_;
  ProgressOptions options_;
  bool terminal_;
  bool moving_ = false;   ///< at least one unit is finished
  bool drawn_ = false;    ///< the terminal shows a line that may be redrawn
  bool pending_ = false;  ///< the newest update is not printed yet
  std::string detail_;
  Clock::time_point start_;
  Clock::time_point last_;
  std::mutex adding_;
};

}  // namespace synergraph
#pragma GCC visibility pop
