#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// "3.4 s", "5 min 07 s", "2 h 05 min": a duration as people read it.
std::string format_duration(double seconds);

/// Where and how often a Progress reports; unless told, nowhere.
struct ProgressOptions {
  std::FILE* stream = nullptr;  ///< gets lines to read
  double interval = 10.0;       ///< seconds between lines when the stream is not a terminal
  std::string prefix = {};      ///< of every such line: whose it is
  /// Hears of every update, from one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total, const std::string& detail)> listener =
      nullptr;
};

/// Reports how far long work has come, how fast it goes and how long it will take. On a terminal
/// one line is redrawn in place; into a file or pipe go plain lines, one every interval. The speed
/// counts from the first unit on: what comes before, reading files or so, says nothing about it.
class Progress {
 public:
  /// `unit` names what is counted: "steps". `done` of `total` may already be done.
  Progress(std::string unit, std::uint64_t total, std::uint64_t done = 0,
           ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units are done; `detail` says how things stand. Cheap when there is nothing to print.
  void update(std::uint64_t done, const std::string& detail);
  /// So many more are done. For work on several threads: it may be called from all of them, and
  /// nothing else meanwhile.
  void add(std::uint64_t count);
  /// Prints a line of its own, above the redrawn one.
  void note(const std::string& line);
  /// Prints the last state, whatever the interval.
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
  bool moving_ = false;   ///< a unit has been done
  bool drawn_ = false;    ///< a line is on the terminal and may be redrawn
  bool pending_ = false;  ///< an update has not been printed
  std::string detail_;
  Clock::time_point start_;
  Clock::time_point last_;
  std::mutex adding_;
};

}  // namespace synergraph
#pragma GCC visibility pop
