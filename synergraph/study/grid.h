#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/study/cell.h"
#include "synergraph/train/device.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A study: every task with every head count and every seed, trained and measured.
struct GridSettings {
  std::vector<std::string> tasks = {"copy", "cycle"};
  std::vector<int> heads = {1, 4, 8, 16};
  std::vector<std::uint64_t> seeds = {1};
  TrainSettings train;  ///< of every cell, but for task, heads and seed
  MeasureSettings measure;
};

/// The cells of a grid: by task, then heads, then seed.
std::vector<Cell> cells(const GridSettings& grid);

/// The settings of training that all cells share, by name.
std::map<std::string, std::string> common_training(const GridSettings& grid);

/// UsageError, naming what is wrong, unless every cell can be run.
void validate(const GridSettings& grid);

/// How a grid is run; apart from the device, none of it changes the results.
struct GridOptions {
  std::string directory;  ///< holds cells/NAME/: the training run and its measurements
  int jobs = 1;           ///< sets of cells worked on at the same time
  int set_size = 1;       ///< cells at most that are trained together, in one fleet
  Device device = {};
  double checkpoint_interval = 60.0;
  /// The threads are shared by all jobs; when asked to stop, the grid can be continued.
  Execution execution;
};

/// Runs what is not yet done and returns the results of all cells, in the order of cells(); nothing
/// if it was stopped. Each finished cell is on disk before the next begins: an interrupted grid,
/// however it ended, continues where it was, and ends in the same results. When a cell fails, the
/// others of its set are finished, and what it threw is thrown.
std::optional<std::vector<CellResult>> run_grid(const GridSettings& grid,
                                                const GridOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
