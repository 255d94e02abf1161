#include "synergraph/study/grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>

#include "synergraph/analysis/analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/task_queue.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/directory_lock.h"
#include "synergraph/study/cell_file.h"
#include "synergraph/study/measure_model.h"
#include "synergraph/study/measure_subsets.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/trainer.h"

namespace synergraph {
namespace {

/// The steps of all cells, reported as one piece of work, from any thread.
class GridProgress {
 public:
  GridProgress(std::vector<std::uint64_t> done, std::uint64_t total, const ProgressOptions& options)
      : done_(std::move(done)), progress_("steps", total, sum(), options) {}

  void update(std::size_t cell, std::uint64_t steps, const std::string& state) {
    const std::lock_guard lock(mutex_);
    done_[cell] = steps;
    progress_.update(sum(), state);
  }
  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    progress_.note(line);
  }
  void finish() { progress_.finish(); }

 private:
  std::uint64_t sum() const {
    return std::accumulate(done_.begin(), done_.end(), std::uint64_t{0});
  }

  std::mutex mutex_;
  std::vector<std::uint64_t> done_;
  Progress progress_;
};

std::string title(const Cell& cell) {
  return fmt::format("{}, {}, seed {}", cell.train.task, counted(cell.train.model.heads, "head"),
                     cell.train.seed);
}

std::filesystem::path cells_directory(const GridOptions& options) {
  return std::filesystem::path(options.directory) / "cells";
}

/// Cells that are measured at the same time while others are trained: some of the work on a cell is
/// for one thread.
constexpr int kMeasuredAtOnce = 2;

/// Cells that are trained together, by their places among all.
using CellSet = std::vector<std::size_t>;

/// The work on the cells of one grid.
class GridRun {
 public:
  GridRun(std::vector<Cell> cells, const GridOptions& options)
      : cells_(std::move(cells)), results_(cells_.size()), options_(options) {}

  /// Everything that is left to do; whether it got to the end.
  bool run() {
    std::uint64_t total = 0;
    std::vector<std::uint64_t> done(cells_.size(), 0);
    std::vector<std::size_t> left;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      results_[k] = read_result(result_path(k), cells_[k]);
      total += cells_[k].train.steps();
      if (results_[k]) {
        done[k] = cells_[k].train.steps();
      } else {
        left.push_back(k);
        if (has_run(directory(k))) done[k] = read_run(directory(k)).position.step;
      }
    }
    if (left.empty()) return true;
    GridProgress progress(std::move(done), total, options_.execution.progress);
    const std::vector<CellSet> sets = sets_of(left);
    const int jobs = std::clamp(options_.jobs, 1, static_cast<int>(sets.size()));
    std::optional<TaskQueue> measuring;
    // While a GPU trains, the CPU measures.
    if (options_.device.kind == DeviceKind::kCuda) measuring.emplace(kMeasuredAtOnce);
    threads_ =
        std::max(1, options_.execution.thread_count() / (measuring ? kMeasuredAtOnce : jobs));
    parallel_for(sets.size(), jobs, [&](std::size_t k, int) {
      if (!stopped()) run_set(sets[k], progress, measuring);
    });
    if (measuring) measuring->finish();
    progress.finish();
    return std::all_of(results_.begin(), results_.end(),
                       [](const auto& r) { return r.has_value(); });
  }

  std::vector<CellResult> results() {
    std::vector<CellResult> results;
    results.reserve(results_.size());
    for (auto& result : results_) results.push_back(std::move(*result));
    return results;
  }

 private:
  bool stopped() const { return options_.execution.stopped(); }
  std::string directory(std::size_t k) const {
    return (cells_directory(options_) / training_name(cells_[k])).string();
  }
  std::string result_path(std::size_t k) const {
    return directory(k) + '/' + result_name(cells_[k]);
  }

  /// The cells in their order, each with as many that follow it as can be trained with it.
  std::vector<CellSet> sets_of(const std::vector<std::size_t>& left) const {
    std::vector<CellSet> sets;
    for (const std::size_t k : left) {
      const auto open = std::find_if(sets.begin(), sets.end(), [&](const CellSet& set) {
        return static_cast<int>(set.size()) < options_.set_size &&
               fleet_settings(cells_[set.front()].train) == fleet_settings(cells_[k].train);
      });
      if (open != sets.end())
        open->push_back(k);
      else
        sets.push_back({k});
    }
    return sets;
  }

  /// `measuring` does what is left to do with trained cells, if there is one.
  void run_set(const CellSet& set, GridProgress& progress, std::optional<TaskQueue>& measuring) {
    std::vector<std::shared_ptr<const TrainingData>> data;
    for (const std::size_t k : set) {
      const TrainSettings& train = cells_[k].train;
      data.push_back(std::make_shared<const TrainingData>(
          task_data(find_task(train.task), train.seed, train.sequences, train.model)));
    }
    std::vector<TrainJob> jobs;
    for (std::size_t j = 0; j < set.size(); ++j) {
      const std::size_t k = set[j];
      const auto listener = [&progress, k, name = title(cells_[k])](
                                std::uint64_t step, std::uint64_t, const std::string& state) {
        progress.update(k, step, fmt::format("{}: {}", name, state));
      };
      jobs.push_back({cells_[k].train, *data[j], directory(k), {.listener = listener}});
    }
    std::vector<TrainResult> trained =
        train_set(jobs, {.resume = true,
                         .checkpoint_interval = options_.checkpoint_interval,
                         .device = options_.device,
                         .execution = options_.execution.part(threads_)});
    for (std::size_t j = 0; j < set.size(); ++j)
      if (trained[j].outcome && trained[j].outcome->finished) {
        const auto finish = [this, k = set[j], own = data[j], &progress,
                             outcome =
                                 std::make_shared<TrainOutcome>(std::move(*trained[j].outcome))] {
          finish_cell(k, *own, *outcome, progress);
        };
        if (measuring)
          measuring->push(finish);
        else
          finish();
      }
    for (std::size_t j = 0; j < set.size(); ++j)
      if (trained[j].error) throw_for(cells_[set[j]], trained[j].error);
  }

  /// The error of a training, with the cell's name.
  [[noreturn]] static void throw_for(const Cell& cell, const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const InputError& wrong) {
      throw InputError(fmt::format("{}: {}", title(cell), wrong.what()));
    }
  }

  void finish_cell(std::size_t k, const TrainingData& data, const TrainOutcome& outcome,
                   GridProgress& progress) {
    const Cell& cell = cells_[k];
    const std::string name = title(cell);
    progress.update(k, cell.train.steps(), name + ": measuring");
    try {
      CellResult result = measure(cell, data, outcome);
      if (measures_subsets(cell)) {
        progress.update(k, cell.train.steps(), name + ": measuring every subset of its heads");
        result.subsets = measure_subsets(outcome.model, first(data, cell.measure.subset_samples),
                                         cell.measure, options_.execution.part(threads_));
      }
      results_[k] = std::move(result);
    } catch (const Stopped&) {
      return;  // the cell has no result yet
    }
    write_result(result_path(k), *results_[k]);
    progress.note(fmt::format("{}: accuracy {:.4f}, measured on {} sequences", name,
                              outcome.judged_accuracy, cell.measure.samples));
  }

  static Sequences first(const TrainingData& data, int count) {
    return {count, data.inputs.length, {data.inputs.row(0), data.inputs.row(count)}};
  }

  CellResult measure(const Cell& cell, const TrainingData& data,
                     const TrainOutcome& outcome) const {
    ModelMeasurement measured =
        measure_model(outcome.model, find_task(cell.train.task), first(data, cell.measure.samples),
                      cell.measure, options_.execution.part(threads_));
    return {cell, outcome.judged_loss, outcome.judged_accuracy, std::move(measured.exact),
            std::move(measured.published)};
  }

  std::vector<Cell> cells_;
  std::vector<std::optional<CellResult>> results_;
  const GridOptions& options_;
  int threads_ = 1;
};

template <class T>
void require_distinct(const std::vector<T>& values, const char* what) {
  if (values.empty()) throw UsageError(fmt::format("no {} to study", what));
  if (std::set<T>(values.begin(), values.end()).size() != values.size())
    throw UsageError(fmt::format("the same {} twice", what));
}

}  // namespace

void validate(const GridSettings& grid) {
  require_distinct(grid.tasks, "task");
  require_distinct(grid.heads, "head count");
  require_distinct(grid.seeds, "seed");
  for (const Cell& cell : cells(grid)) {
    if (cell.train.task == "data") throw UsageError("a study needs tasks, not data");
    validate(cell.train);
  }
  if (grid.measure.samples < 1 || grid.measure.samples > grid.train.sequences)
    throw UsageError(fmt::format("samples must be between 1 and the {} training sequences, not {}",
                                 grid.train.sequences, grid.measure.samples));
  if (grid.measure.subset_samples < 0 || grid.measure.subset_samples > grid.measure.samples)
    throw UsageError(
        fmt::format("samples for subsets must be between 0 and the {} samples measured, not {}",
                    grid.measure.samples, grid.measure.subset_samples));
}

std::vector<Cell> cells(const GridSettings& grid) {
  std::vector<Cell> all;
  for (const std::string& task : grid.tasks)
    for (const int heads : grid.heads)
      for (const std::uint64_t seed : grid.seeds) {
        Cell cell{grid.train, grid.measure};
        cell.train.task = task;
        cell.train.model.heads = heads;
        cell.train.seed = seed;
        all.push_back(std::move(cell));
      }
  return all;
}

std::map<std::string, std::string> common_training(const GridSettings& grid) {
  std::map<std::string, std::string> settings = to_metadata(grid.train);
  for (const char* own : {"task", "data", "heads", "seed"}) settings.erase(own);
  return settings;
}

std::optional<std::vector<CellResult>> run_grid(const GridSettings& grid,
                                                const GridOptions& options) {
  validate(grid);
  make_directory(cells_directory(options).string());
  const DirectoryLock lock(options.directory);
  GridRun run(cells(grid), options);
  if (!run.run()) return std::nullopt;
  return run.results();
}

}  // namespace synergraph
