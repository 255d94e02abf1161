#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// A file of JSON lines, one a measurement, that a resumed run continues.
class MetricsLog {
 public:
  /// Keeps the lines of the file, if there is one, that are objects with "step" at most `step`, and
  /// drops each other one.
  MetricsLog(std::string path, std::uint64_t step);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// "seconds" of the last line kept: the time that the run took before.
  double seconds() const { return seconds_; }
  /// Appends a line, a JSON object with "step" and "seconds". InputError when it cannot be written.
  void append(const std::string& line);

 private:
  std::string path_;
  double seconds_ = 0.0;
  int descriptor_ = -1;
};

}  // namespace synergraph
#pragma GCC visibility pop
