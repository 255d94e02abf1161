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

/// The directory holds a run that was not asked for in this way. Who asked may add what to do.
class RunConflict : public UsageError {
 public:
  enum class Kind {
    kExists,   ///< a new run was wanted
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

  /// The run in the directory, with as many epochs as the settings have, or a new one; its files
  /// are then written, so that a directory that cannot be written is known before any work. Of
  /// `notes` the seconds are not used and the devices are added to those of the run.
  ///
  /// RunConflict for a run when `resume` is off or when `notes` do not hold out sequences that it
  /// did; UsageError for one with other settings, or with more steps, and for files of others;
  /// InputError for a run whose files are damaged.
  TrainingRun open(const TrainSettings& settings, const RunNotes& notes, bool resume);

  /// The rest is for an open run.
  void write_checkpoint(const TrainingRun& run);
  /// Appends a JSON object with "step" and "seconds".
  void append_to_log(const std::string& line) { log_->append(line); }
  /// What the run has taken until now, in all its parts.
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
