#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/progress.h"
#include "synergraph/study/cell.h"

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

/// Where a cell's training is kept: a name that says what it is and that changes with everything
/// the trained model depends on, e.g. "copy-4-heads-seed-1-9f86d081884c7d65".
std::string cell_name(const Cell& cell);

/// How a grid is run; none of it changes the results.
struct GridOptions {
  std::string directory;  ///< holds cells/NAME/: the training run and its measurements
  int jobs = 1;           ///< cells worked on at the same time
  int threads = 0;        ///< of all jobs together; 0: all CPUs
  double checkpoint_interval = 60.0;
  ProgressOptions progress;
  const std::atomic<bool>* stop = nullptr;  ///< when set, the grid stops and can be continued
};

/// Runs what is not yet done and returns the results of all cells, in the order of cells(); nothing
/// if it was stopped. Each finished cell is on disk before the next begins: an interrupted grid,
/// however it ended, continues where it was, and ends in the same results.
std::optional<std::vector<CellResult>> run_grid(const GridSettings& grid,
                                                const GridOptions& options);

/// Measures a model by both conventions on given sequences; learned head weights.
struct ModelMeasurement {
  double loss = 0.0;      ///< on the sequences, by the task
  double accuracy = 0.0;  ///< likewise
  std::vector<LayerResult> exact;
  std::vector<LayerResult> published;
};
ModelMeasurement measure_model(const Model& model, const Task& task, const Sequences& sequences,
                               const MeasureSettings& settings, int threads,
                               const ProgressOptions& progress);

}  // namespace synergraph
