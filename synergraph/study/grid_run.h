#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/cluster/worker_place.h"
#include "synergraph/core/execution.h"
#include "synergraph/study/grid.h"
#include "synergraph/train/device.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How a grid is run; apart from the device, none of it changes the results.
struct GridOptions {
  /// Holds cells/, a shared board (WorkBoard): for every cell its training run and its result.
  std::string directory;
  int jobs = 0;      ///< sets of cells worked on at the same time; 0: one, see choose_grid_device()
  int set_size = 1;  ///< cells at most that are trained together, in one fleet
  Device device = {};
  double checkpoint_interval = 60.0;
  WorkerPlace place = {};   ///< of this process among those that work on the grid
  bool wait = true;         ///< for the other workers, see SharedWorkOptions
  double timeout = 60.0;    ///< likewise
  bool merge_only = false;  ///< do nothing but put results together: all are there
  /// The threads are shared by all jobs; when asked to stop, the grid can be continued.
  Execution execution;
};

/// What is made of the results of all cells, once, by one of the workers.
struct GridMerge {
  std::function<std::string()> stamp;  ///< of what was written, see SharedWork::merge
  std::function<void(std::vector<CellResult> results)> write;
};

enum class GridEnd {
  kMerged,    ///< this worker has written the merge
  kFinished,  ///< another has
  kOthers,    ///< others still work on the last cells
  kStopped,   ///< on request: the grid can be continued
};

/// Works on a grid, together with other processes that do the same. Each finished cell is on disk
/// before the next begins: an interrupted grid, however it ended, continues where it was, and ends
/// in the same results. A cell that fails is recorded, and the others go on; then InputError says
/// which and why. What has failed before is tried again.
GridEnd work_on_grid(const GridSettings& grid, const GridOptions& options, const GridMerge& merge);

/// The same alone: the results of all cells, in the order of cells(); nothing if it was stopped.
/// Other runs are kept out of the directory.
std::optional<std::vector<CellResult>> run_grid(const GridSettings& grid,
                                                const GridOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
