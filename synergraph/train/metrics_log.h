#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// What a log can be at most, in bytes.
struct LogLimits {
  std::uint64_t file = 0;
  std::size_t line = 0;  ///< longer lines are no measurements
};
/// Of a run of so many epochs and layers: a line an epoch.
LogLimits log_limits(int epochs, int layers);

/// What a log says of its run up to a step.
struct LogPast {
  double seconds = 0.0;   ///< that the run took
  bool held_out = false;  ///< it was judged by sequences that were held out
};
/// Nothing of the sort where there is no log. InputError where the file is larger than a log can
/// be.
LogPast read_log(const std::string& path, std::uint64_t step, const LogLimits& limits);

/// A file of JSON lines, one a measurement, that a resumed run continues.
class MetricsLog {
 public:
  /// Keeps the lines of the file, if there is one, that are objects with "step" at most `step`, and
  /// drops each other one. InputError as by read_log().
  MetricsLog(std::string path, std::uint64_t step, const LogLimits& limits);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// By the lines kept: the time that the run took before.
  double seconds() const { return past_.seconds; }
  /// Appends a line, a JSON object with "step" and "seconds". InputError when it cannot be written.
  void append(const std::string& line);

 private:
  std::string path_;
  LogPast past_;
  int descriptor_ = -1;
};

}  // namespace synergraph
#pragma GCC visibility pop
