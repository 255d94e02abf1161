#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/cluster/work_plan.h"
#include "synergraph/core/terminal.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The status of a worker, from its file.
struct WorkerStatus {
  std::string name;   ///< "worker 2 of 4, process 123 on node7"
  bool dead = false;  ///< true only if the worker is certainly dead
  /// Seconds since its last sign of life, by the clock of the file system.
  std::optional<double> silent = {};
  int pieces = 0;          ///< number of finished pieces
  std::string doing = {};  ///< "waits" or "merges"; otherwise empty
  std::vector<std::string> at_work_on = {};
};

/// The progress of a plan.
struct WorkStatus {
  std::string title;
  std::string unit;
  std::size_t pieces = 0;
  std::size_t done = 0;
  double cost_done = 0.0;  ///< share of the total cost, including progress on unfinished pieces
  std::vector<WorkerStatus> workers = {};
  std::vector<std::string> failures = {};  ///< one line per failure
  /// Damaged files, one line each. Their pieces are not done.
  std::vector<std::string> damaged = {};
  /// Share of the total cost per second, over all workers that are not dead; then the seconds left
  /// at this speed.
  double speed = 0.0;
  std::optional<double> seconds_left = {};

  bool finished() const { return done == pieces; }
};

/// Returns the finished share of a piece without a result, from the files beside it at this path.
using PieceShare = std::function<double(const std::string& path)>;

/// Reads the status of a directory in which workers share work, or of its cells/. Changes nothing
/// that workers see. Throws InputError if the directory is missing or no work has begun there.
std::vector<WorkStatus> work_status(const std::string& directory, const PieceShare& share = {});

/// Formats the status for people, on lines of at most `columns` columns.
std::string format_status(const WorkStatus& status, std::size_t columns = kUnlimited);

}  // namespace synergraph
#pragma GCC visibility pop
