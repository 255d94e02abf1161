#pragma once

#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// What is worth knowing about a run that does not change its model, in run.json.
struct RunNotes {
  double seconds = 0.0;   ///< that it has taken up to its last checkpoint
  int track_every = 0;    ///< TrainOptions::track_every
  bool held_out = false;  ///< TrainingData::held_out
  /// What it was trained on, as describe(Device) has it, in the order of their first use.
  std::vector<std::string> devices;
};

std::string notes_path(const std::string& directory);  ///< run.json

void write_notes(const std::string& directory, const RunNotes& notes);

/// The notes of the run in a directory; nothing when there are none. InputError when the file is
/// damaged or another program's.
std::optional<RunNotes> read_notes(const std::string& directory);

}  // namespace synergraph
#pragma GCC visibility pop
