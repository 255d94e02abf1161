#include "synergraph/study/grid_run.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>

#include "synergraph/cluster/shared_work.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/task_queue.h"
#include "synergraph/core/terminal.h"
#include "synergraph/device/device_full.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/directory_lock.h"
#include "synergraph/io/own_file.h"
#include "synergraph/study/cell_cost.h"
#include "synergraph/study/cell_file.h"
#include "synergraph/study/measure_model.h"
#include "synergraph/study/measure_subsets.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/trainer.h"

namespace synergraph {
namespace {

/// The steps of all cells, reported as one piece of work, from any thread.
class GridProgress {
 public:
  GridProgress(std::vector<std::uint64_t> done, std::uint64_t total, const ProgressOptions& options)
      : done_(std::move(done)),
        sum_(std::accumulate(done_.begin(), done_.end(), std::uint64_t{0})),
        progress_("steps", total, sum_, options) {}

  void update(std::size_t cell, std::uint64_t steps, const std::string& state) {
    const std::lock_guard lock(mutex_);
    set(cell, steps);
    progress_.update(sum_, state);
  }
  /// Others have done it, so far.
  void pass(std::size_t cell, std::uint64_t steps) {
    const std::lock_guard lock(mutex_);
    set(cell, steps);
  }
  void show(const std::string& state) {
    const std::lock_guard lock(mutex_);
    progress_.update(sum_, state);
  }
  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    progress_.note(line);
  }
  void finish() { progress_.finish(); }

 private:
  void set(std::size_t cell, std::uint64_t steps) {
    sum_ += steps - done_[cell];
    done_[cell] = steps;
  }

  std::mutex mutex_;
  std::vector<std::uint64_t> done_;
  std::uint64_t sum_;
  Progress progress_;
};

std::string title(const Cell& cell) {
  return fmt::format("{}, {}, seed {}", cell.train.task, counted(cell.train.model.heads, "head"),
                     cell.train.seed);
}

std::string board_directory(const GridOptions& options) {
  return (std::filesystem::path(options.directory) / "cells").string();
}

WorkPlan plan_of(const GridSettings& grid, const std::vector<Cell>& cells) {
  WorkPlan plan;
  plan.title =
      fmt::format("{}; {} {}; {}", fmt::join(grid.tasks, ", "), fmt::join(grid.heads, ", "),
                  grid.heads == std::vector{1} ? "head" : "heads",
                  counted(static_cast<int>(grid.seeds.size()), "seed"));
  plan.unit = "cells";
  for (const Cell& cell : cells)
    plan.pieces.push_back({training_name(cell), result_name(cell), title(cell), cell_cost(cell)});
  return plan;
}

/// Cells that are measured at the same time while others are trained, each by all threads: some of
/// the work on a cell is for few.
constexpr int kMeasuredAtOnce = 4;

/// So many workers at most look at each other's checkpoints, every so often.
constexpr int kReadCheckpoints = 64;
constexpr auto kBetweenCheckpoints = std::chrono::seconds(10);

/// Times that results are measured again which are not there when they are put together.
constexpr int kRounds = 3;

/// Cells that are trained together, by their places among all.
using CellSet = std::vector<std::size_t>;

/// Cells whose results are not there after all.
struct ResultsMissing {
  CellSet cells;
};

/// What this process computes with, for people.
std::string resources(const GridOptions& options) {
  return fmt::format("{} on {}", counted(options.execution.thread_count(), "thread"),
                     describe(options.device));
}

/// The work on the cells of one grid.
class GridRun {
 public:
  GridRun(const GridSettings& grid, const GridOptions& options)
      : options_(options),
        cells_(cells(grid)),
        work_(board_directory(options), plan_of(grid, cells_),
              {.place = options.place,
               .dearest_first = beside_gpu(),
               .wait = options.wait,
               .timeout = options.timeout,
               .progress = [this](std::size_t k) { return fmt::format("{} steps", steps_done(k)); },
               .with = resources(options),
               .cost_done = [this] { return cost_done_.load(); },
               .stop = options.execution.stop,
               .looked = [this](std::size_t others) { pass_those_of_others(others); },
               .note =
                   [this](const std::string& line) {
                     if (progress_) progress_->note(line);
                   }}) {}

  /// Everything that is left to do and nobody else does.
  void run() {
    begin_progress();
    if (!work_.complete()) progress_->note("computing with " + resources(options_));
    const int jobs = std::clamp(options_.jobs, 1, static_cast<int>(cells_.size()));
    std::optional<TaskQueue> measuring;
    if (beside_gpu()) measuring.emplace(kMeasuredAtOnce);
    threads_ = measuring ? options_.execution.thread_count()
                         : std::max(1, options_.execution.thread_count() / jobs);
    const auto together = [this](std::size_t a, std::size_t b) {
      return fleet_settings(cells_[a].train) == fleet_settings(cells_[b].train);
    };
    parallel_for(static_cast<std::size_t>(jobs), jobs, [&](std::size_t, int) {
      for (;;) {
        CellSet set = work_.take(static_cast<std::size_t>(options_.set_size), together);
        if (set.empty()) return;
        work_.refresh();
        std::erase_if(set, [this](std::size_t k) { return is_done_as_before(k); });
        if (!set.empty()) run_set(set, measuring);
      }
    });
    if (measuring) measuring->finish();
    pass_those_of_others(0);
    if (!options_.place.alone()) progress_->show(work_.complete() ? "" : "others go on");
    progress_->finish();
  }

  /// InputError with the line of the first cell that has failed, if one has.
  void report_failures() const {
    const std::vector<WorkFailure> failures = work_.failures();
    if (failures.empty()) return;
    std::string line = failures.front().line;
    if (failures.size() > 1)
      line += fmt::format(" (and {} failed, of {}: synergraph status {})",
                          counted(static_cast<int>(failures.size()) - 1, "other cell"),
                          cells_.size(), options_.directory);
    throw InputError(line);
  }
  /// InputError that names the first cell without a result, if there is one.
  void require_all() {
    begin_progress();
    CellSet missing = work_.missing();
    std::erase_if(missing, [this](std::size_t k) { return is_done_as_before(k); });
    if (missing.empty()) return;
    const auto failed = std::count_if(missing.begin(), missing.end(), [this](std::size_t k) {
      return is_own_file(failure_path(work_.board(), work_.plan().pieces[k]));
    });
    std::string line =
        fmt::format("{}: {} of {} have no result yet", options_.directory, missing.size(),
                    counted(static_cast<int>(cells_.size()), "cell"));
    if (failed > 0)
      line += fmt::format(", {} of them failed (synergraph status {})", failed, options_.directory);
    throw InputError(fmt::format("{}, the first: {}", line, title(cells_[missing.front()])));
  }
  void reopen(const CellSet& set) {
    for (const std::size_t k : set) work_.reopen(k);
  }
  bool complete() const { return work_.complete(); }

  /// Whether this worker was the one to merge.
  bool merge(const GridMerge& how) {
    return work_.merge(work_.plan().key(), how.stamp, [&] {
      work_.persist([&] {
        how.write(results());
        if (how.stamp().empty())
          throw FileError(options_.directory + ": what was written has gone");
      });
    });
  }

 private:
  /// While a GPU trains, the CPU measures.
  bool beside_gpu() const { return options_.device.kind == DeviceKind::kCuda; }
  /// ResultsMissing where some are damaged, which are set aside, or have gone.
  std::vector<CellResult> results() {
    std::vector<CellResult> all;
    all.reserve(cells_.size());
    ResultsMissing missing;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      if (std::optional<CellResult> result = sound_result(k))
        all.push_back(std::move(*result));
      else
        missing.cells.push_back(k);
    }
    if (!missing.cells.empty()) throw missing;
    return all;
  }
  std::optional<CellResult> sound_result(std::size_t k) {
    std::optional<CellResult> result = sound_result(result_path(k), k);
    if (!result) (void)work_.board().folders();  // FileError where all has gone
    return result;
  }
  /// The result of a cell in this file; nothing where there is none, or one that is damaged, which
  /// is set aside.
  std::optional<CellResult> sound_result(const std::string& path, std::size_t k) {
    try {
      return read_result(path, cells_[k]);
    } catch (const FileError&) {
      throw;
    } catch (const InputError& error) {
      if (options_.merge_only)
        throw InputError(
            fmt::format("{}; without {} it is measured again", error.what(), option_mark("merge")));
      progress_->note(fmt::format("{}; set aside and measured again", error.what()));
      set_aside(path);
      return std::nullopt;
    }
  }
  std::string result_path(std::size_t k) const {
    return synergraph::result_path(work_.board(), work_.plan().pieces[k]);
  }
  /// The training, where it has always been or, if it is not there, on the board.
  std::string directory(std::size_t k) const {
    const std::string name = training_name(cells_[k]);
    const std::string before = work_.board().root() + '/' + name;
    return is_own_directory(before) ? before : work_.board().path(name);
  }

  /// By the last checkpoint; 0 where there is none that can be read.
  std::uint64_t steps_done(std::size_t k) const {
    const std::optional<RunSteps> steps = read_steps(directory(k));
    return steps ? std::min(steps->done, cells_[k].train.steps()) : 0;
  }

  void begin_progress() {
    std::uint64_t total = 0;
    std::vector<std::uint64_t> done(cells_.size(), 0);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      total += cells_[k].train.steps();
      if (work_.is_done(k))
        done[k] = cells_[k].train.steps();
      else if (options_.place.alone() ||
               (options_.place.size <= kReadCheckpoints && work_.is_elsewhere(k)))
        done[k] = steps_done(k);
    }
    progress_.emplace(std::move(done), total, options_.execution.progress);
  }
  /// `waiting`: for so many of them.
  void pass_those_of_others(std::size_t waiting) {
    if (options_.place.alone() || options_.execution.progress.stream == nullptr) return;
    const std::unique_lock lock(passing_, std::try_to_lock);
    if (!lock) return;
    const auto now = std::chrono::steady_clock::now();
    const bool checkpoints = options_.place.size <= kReadCheckpoints && now >= next_checkpoints_;
    if (checkpoints) next_checkpoints_ = now + kBetweenCheckpoints;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      if (work_.is_done(k))
        progress_->pass(k, cells_[k].train.steps());
      else if (checkpoints && work_.is_elsewhere(k))
        progress_->pass(k, steps_done(k));
    }
    if (waiting > 0) progress_->show(waiting_for(waiting, "cell"));
  }

  /// Results of earlier versions lie in the cells' own directories.
  bool is_done_as_before(std::size_t k) {
    try {
      const std::optional<CellResult> result =
          sound_result(directory(k) + '/' + result_name(cells_[k]), k);
      if (!result) return false;
      work_.persist([&] { write_result(result_path(k), *result); });
      progress_->pass(k, cells_[k].train.steps());
      (void)work_.finish(k);
    } catch (const Error&) {
      if (options_.merge_only) throw;
      work_.fail(k, std::current_exception());
    }
    return true;
  }

  /// `measuring` does what is left to do with trained cells, if there is one.
  void run_set(const CellSet& set, std::optional<TaskQueue>& measuring) {
    std::vector<std::shared_ptr<const TrainingData>> data;
    std::vector<TrainResult> trained;
    try {
      trained = train(set, data);
    } catch (const DeviceFull&) {
      return run_halves(set, std::current_exception(), measuring);
    } catch (const std::bad_alloc&) {
      return fail(set, std::current_exception());
    } catch (const InputError&) {  // of the device: runs have their own
      return fail(set, std::current_exception());
    }
    for (std::size_t j = 0; j < set.size(); ++j) {
      if (trained[j].error) {
        work_.fail(set[j], trained[j].error);
      } else if (!trained[j].outcome->finished) {
        work_.give_back(set[j]);
      } else {
        const auto finish = [this, k = set[j], own = data[j],
                             outcome =
                                 std::make_shared<TrainOutcome>(std::move(*trained[j].outcome))] {
          finish_cell(k, *own, *outcome);
        };
        if (measuring)
          measuring->push(finish);
        else
          finish();
      }
    }
  }

  void fail(const CellSet& set, const std::exception_ptr& error) {
    for (const std::size_t k : set) work_.fail(k, error);
  }
  /// The device has not the memory for all at once that it seemed to have. What was trained so far
  /// goes on from its checkpoints.
  void run_halves(const CellSet& set, const std::exception_ptr& error,
                  std::optional<TaskQueue>& measuring) {
    if (set.size() == 1) return fail(set, error);
    const auto middle = set.begin() + static_cast<std::ptrdiff_t>(set.size() / 2);
    run_set({set.begin(), middle}, measuring);
    run_set({middle, set.end()}, measuring);
  }

  std::vector<TrainResult> train(const CellSet& set,
                                 std::vector<std::shared_ptr<const TrainingData>>& data) {
    std::vector<TrainJob> jobs;
    for (const std::size_t k : set) {
      const TrainSettings& settings = cells_[k].train;
      data.push_back(std::make_shared<const TrainingData>(
          task_data(find_task(settings.task), settings.seed, settings.sequences, settings.model)));
      const double step_cost = work_.plan().pieces[k].cost /
                               static_cast<double>(std::max<std::uint64_t>(1, settings.steps()));
      const auto listener = [this, k, step_cost, name = title(cells_[k]), last = steps_done(k)](
                                std::uint64_t step, std::uint64_t,
                                const std::string& state) mutable {
        cost_done_ += step_cost * static_cast<double>(step - last);
        last = step;
        progress_->update(k, step, fmt::format("{}: {}", name, state));
        work_.refresh();
      };
      jobs.push_back({settings, *data.back(), directory(k), {.listener = listener}});
    }
    TrainSetOptions how;
    how.resume = true;
    how.claimed = true;
    how.checkpoint_interval = options_.checkpoint_interval;
    how.device = options_.device;
    how.execution = options_.execution.part(threads_);
    return train_set(jobs, how);
  }

  void finish_cell(std::size_t k, const TrainingData& data, const TrainOutcome& outcome) {
    const Cell& cell = cells_[k];
    const std::string name = title(cell);
    progress_->update(k, cell.train.steps(), name + ": measuring");
    try {
      const EvaluatorFactory evaluators = evaluator_factory(options_.device, outcome.model);
      CellResult result;
      std::vector<LayerSubsets> subsets;
      parallel_for(
          measures_subsets(cell) ? 2 : 1, beside_gpu() ? 2 : 1, [&](std::size_t part, int) {
            if (part == 0) {
              result = measure(cell, data, outcome, evaluators);
            } else {
              progress_->update(k, cell.train.steps(),
                                name + ": measuring every subset of its heads");
              subsets = measure_subsets(outcome.model, first(data, cell.measure.subset_samples),
                                        cell.measure, options_.execution.part(threads_), evaluators,
                                        name_of(options_.device));
            }
          });
      result.subsets = std::move(subsets);
      work_.persist([&] { write_result(result_path(k), result); });
    } catch (const Stopped&) {
      return work_.give_back(k);  // the cell has no result yet
    } catch (const std::exception&) {
      return work_.fail(k, std::current_exception());
    }
    if (!work_.finish(k)) return;
    progress_->note(fmt::format("{}: accuracy {:.4f}, measured on {} sequences", name,
                                outcome.judged_accuracy, cell.measure.samples));
  }

  static Sequences first(const TrainingData& data, int count) {
    return {count, data.inputs.length, {data.inputs.row(0), data.inputs.row(count)}};
  }

  CellResult measure(const Cell& cell, const TrainingData& data, const TrainOutcome& outcome,
                     const EvaluatorFactory& evaluators) const {
    ModelMeasurement measured = measure_model(
        outcome.model, find_task(cell.train.task), first(data, cell.measure.samples), cell.measure,
        options_.execution.part(threads_), evaluators, name_of(options_.device));
    std::string run_on = describe(evaluating(options_.device));
    if (!measured.measured_on.empty())
      run_on += fmt::format(", measured on {}", measured.measured_on);
    return {.cell = cell,
            .loss = outcome.judged_loss,
            .accuracy = outcome.judged_accuracy,
            .control = attention_control(outcome.model, data.judged_inputs, data.judged_targets,
                                         Ablation::kZero, options_.execution.part(threads_)),
            .exact = std::move(measured.exact),
            .published = std::move(measured.published),
            .trained_on = outcome.devices,
            .run_on = std::move(run_on)};
  }

  const GridOptions& options_;
  std::vector<Cell> cells_;
  std::optional<GridProgress> progress_;
  std::mutex passing_;
  std::chrono::steady_clock::time_point next_checkpoints_;
  std::atomic<double> cost_done_ = 0.0;
  SharedWork work_;
  int threads_ = 1;
};

}  // namespace

GridEnd work_on_grid(const GridSettings& grid, const GridOptions& asked, const GridMerge& merge) {
  validate(grid);
  GridOptions options = asked;
  options.directory = user_directory(asked.directory);
  if (options.merge_only && !is_own_directory(board_directory(options)))
    throw InputError(asked.directory + ": there is no study here");
  make_directory(options.directory);
  make_directory(board_directory(options), NamedBy::kProgram);
  std::optional<DirectoryLock> lock;
  if (options.place.alone() && !options.merge_only) lock.emplace(options.directory);
  GridRun run(grid, options);
  for (int round = 1;; ++round) {
    if (options.merge_only) {
      run.require_all();
    } else {
      run.run();
      if (options.execution.stopped() && !run.complete()) return GridEnd::kStopped;
      run.report_failures();
    }
    if (!run.complete()) return GridEnd::kOthers;
    try {
      return run.merge(merge) ? GridEnd::kMerged : GridEnd::kFinished;
    } catch (const Stopped&) {
      return GridEnd::kStopped;
    } catch (const ResultsMissing& missing) {
      if (round == kRounds || options.merge_only)
        throw InputError(fmt::format("{}: {} of its results have gone", options.directory,
                                     missing.cells.size()));
      run.reopen(missing.cells);
    }
  }
}

std::optional<std::vector<CellResult>> run_grid(const GridSettings& grid,
                                                const GridOptions& options) {
  GridOptions alone = options;
  alone.place = {};
  std::optional<std::vector<CellResult>> all;
  work_on_grid(grid, alone,
               {[] { return "nothing"; },
                [&](std::vector<CellResult> results) { all = std::move(results); }});
  return all;
}

}  // namespace synergraph
