#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "synergraph/core/error.h"
#include "synergraph/io/directory_lock.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/metrics_log.h"
#include "synergraph/train/run_notes.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The directory holds a run that the caller did not ask for in this way. The caller may add advice
/// to the message.
class RunConflict : public UsageError {
 public:
  enum class Kind {
    kExists,   ///< the caller wanted a new run
    kHeldOut,  ///< the run was judged by sequences that are not among the data
  };
  RunConflict(Kind kind, const std::string& message) : UsageError(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// The directory of a run while somebody works on it: checkpoint, log and notes. Other programs are
/// kept out.
class RunDirectory {
 public:
  /// Makes the directory when it is missing; its path holds no symbolic links (user_directory()
  /// resolves them). InputError when another program works in it, unless it
  /// is not to be locked: then others are kept out by other means.
  explicit RunDirectory(std::string path, bool locked = true);

  /// Opens the run in the directory, with the number of epochs in the settings, or starts a new
  /// run. Then writes the files of the run, so that a read-only directory fails before any work.
  /// Ignores the seconds of `notes` and adds its devices to the devices of the run.
  ///
  /// Throws RunConflict for a run if `resume` is off, or if the run held out sequences and `notes`
  /// do not. Throws UsageError for a run with other settings or more steps, and for files of other
  /// programs. Throws InputError for a run with damaged files.
  TrainingRun open(const TrainSettings& settings, const RunNotes& notes, bool resume);

  /// The remaining members require an open run.
  void write_checkpoint(const TrainingRun& run);
  /// Appends a JSON object with "step" and "seconds".
  void append_to_log(const std::string& line) { log_->append(line); }
  /// The total time of the run until now, over all its parts.
  double seconds() const;
  double seconds_since_checkpoint() const;
  const std::vector<std::string>& devices() const { return notes_.devices; }

 private:
  using Clock = std::chrono::steady_clock;

  TrainingRun read(const TrainSettings& settings, const RunNotes& notes, bool resume);
  bool was_held_out(std::uint64_t step) const;
  void refuse_foreign_files() const;

  std::string path_;
  std::optional<DirectoryLock> lock_;
  RunNotes notes_;
  LogLimits log_limits_;
  std::optional<MetricsLog> log_;
  double seconds_before_ = 0.0;  ///< what the run took before it was opened
  Clock::time_point start_ = Clock::now();
  Clock::time_point written_ = start_;
};

}  // namespace synergraph
#pragma GCC visibility pop
