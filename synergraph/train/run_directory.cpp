#include "synergraph/train/run_directory.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

constexpr const char* kInTheWay =
    "{} is in the way and belongs to no run: choose another directory";

}  // namespace

RunDirectory::RunDirectory(std::string path, bool locked) : path_(std::move(path)) {
  make_directory(path_, NamedBy::kProgram);
  for (const std::string& file :
       {model_path(path_), state_path(path_), log_path(path_), notes_path(path_)})
    (void)own_file_exists(file);  // InputError for anything but a file
  if (locked) lock_.emplace(path_);
}

TrainingRun RunDirectory::open(const TrainSettings& settings, const RunNotes& notes, bool resume) {
  TrainingRun run = read(settings, notes, resume);
  const RunNotes before = read_notes(path_).value_or(RunNotes{});
  notes_ = notes;
  notes_.devices = before.devices;
  for (const std::string& device : notes.devices)
    if (std::find(before.devices.begin(), before.devices.end(), device) == before.devices.end())
      notes_.devices.push_back(device);
  log_.emplace(log_path(path_), run.position.step, log_limits_);
  if (run.position.step > 0) seconds_before_ = std::max(log_->seconds(), before.seconds);
  write_checkpoint(run);
  return run;
}

TrainingRun RunDirectory::read(const TrainSettings& settings, const RunNotes& notes, bool resume) {
  if (!has_run(path_)) {
    refuse_foreign_files();
    return new_run(settings);
  }
  if (!resume)
    throw RunConflict(RunConflict::Kind::kExists, fmt::format("{} already holds a run", path_));
  TrainingRun run = read_run(path_);
  const std::string other = difference(run.settings, settings);
  if (!other.empty()) throw UsageError(fmt::format("{}: the run has {}", state_path(path_), other));
  if (settings.steps() < run.position.step) {
    const auto per_epoch = static_cast<std::uint64_t>(settings.steps_per_epoch());
    throw UsageError(fmt::format("{}: the run is in or after epoch {}: epochs cannot be {}",
                                 state_path(path_), (run.position.step + per_epoch - 1) / per_epoch,
                                 settings.epochs));
  }
  log_limits_ = log_limits(std::max(run.settings.epochs, settings.epochs), settings.model.layers);
  if (!notes.held_out && was_held_out(run.position.step))
    throw RunConflict(RunConflict::Kind::kHeldOut,
                      fmt::format("{}: the run was judged by validation pairs", path_));
  run.settings.epochs = settings.epochs;
  return run;
}

/// Notes may have got lost, or be those of another run: the log says itself what its numbers are.
bool RunDirectory::was_held_out(std::uint64_t step) const {
  const std::optional<RunNotes> before = read_notes(path_);
  return (before && before->held_out) || read_log(log_path(path_), step, log_limits_).held_out;
}

/// A new run must not overwrite files that no run of ours has left. (The state is written before
/// the model, and an empty log before both.)
void RunDirectory::refuse_foreign_files() const {
  for (const std::string& path : {model_path(path_), log_path(path_)}) {
    struct stat status {};
    if (own_status(path, status) && status.st_size > 0)
      throw UsageError(fmt::format(kInTheWay, path));
  }
  try {
    (void)read_notes(path_);
  } catch (const FileError&) {
    throw;
  } catch (const InputError&) {
    throw UsageError(fmt::format(kInTheWay, notes_path(path_)));
  }
}

void RunDirectory::write_checkpoint(const TrainingRun& run) {
  notes_.seconds = seconds();
  write_notes(path_, notes_);
  synergraph::write_checkpoint(path_, run);
  written_ = Clock::now();
}

double RunDirectory::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - start_).count();
}

double RunDirectory::seconds_since_checkpoint() const {
  return std::chrono::duration<double>(Clock::now() - written_).count();
}

}  // namespace synergraph
