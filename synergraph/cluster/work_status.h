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

/// A worker, as its file has it.
struct WorkerStatus {
  std::string name;   ///< "worker 2 of 4, process 123 on node7"
  bool dead = false;  ///< for certain
  /// Seconds since its last sign of life, by the clock of the file system.
  std::optional<double> silent = {};
  int pieces = 0;          ///< that it has done
  std::string doing = {};  ///< "waits" or "merges", if it does
  std::vector<std::string> at_work_on = {};
};

/// How far a plan has come.
struct WorkStatus {
  std::string title;
  std::string unit;
  std::size_t pieces = 0;
  std::size_t done = 0;
  double cost_done = 0.0;  ///< as a share of all, with what is done of unfinished pieces
  std::vector<WorkerStatus> workers = {};
  std::vector<std::string> failures = {};  ///< a line each
  /// Files that are not what they should be, a line each; their pieces are not done.
  std::vector<std::string> damaged = {};
  /// Shares of all the cost in a second, by those that are not dead; seconds left at this speed.
  double speed = 0.0;
  std::optional<double> seconds_left = {};

  bool finished() const { return done == pieces; }
};

/// The share that is done of a piece that has no result yet, by what lies beside it at this path.
using PieceShare = std::function<double(const std::string& path)>;

/// Looks at a directory in which workers share work, or at its cells/, and changes nothing that
/// they see. InputError where there is no such directory, or nothing has begun in it.
std::vector<WorkStatus> work_status(const std::string& directory, const PieceShare& share = {});

/// For people, on lines of so many columns.
std::string format_status(const WorkStatus& status, std::size_t columns = kUnlimited);

}  // namespace synergraph
#pragma GCC visibility pop
