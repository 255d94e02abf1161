#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "synergraph/cluster/work_board.h"
#include "synergraph/cluster/work_plan.h"
#include "synergraph/study/cell_file.h"
#include "synergraph/study/grid_run.h"
#include "synergraph/train/checkpoint.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSteps = 8;  ///< of a cell

/// Two cells that can be trained together.
GridSettings two_cells() {
  GridSettings grid;
  grid.tasks = {"copy"};
  grid.heads = {1};
  grid.seeds = {1, 2};
  grid.train.model = {
      .vocabulary = 12, .length = 6, .width = 4, .heads = 1, .layers = 1, .hidden = 4};
  grid.train.sequences = 40;
  grid.train.batch = 10;
  grid.train.epochs = 2;
  grid.measure.samples = 2;
  grid.measure.subset_samples = 0;
  return grid;
}

struct Report {
  std::uint64_t done;
  std::uint64_t total;
  std::string detail;
};

class GridProgressTest : public testing::Test {
 protected:
  GridProgressTest() {
    directory_ = fs::path(testing::TempDir()) /
                 (std::string("grid_progress_") +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory_);
  }
  ~GridProgressTest() override { fs::remove_all(directory_); }

  /// What a run reports goes to the end of this list, and then to `then`.
  GridOptions options(std::vector<Report>& heard, const std::function<void()>& then = {}) const {
    GridOptions options;
    options.directory = directory_.string();
    options.execution.threads = 1;
    options.execution.progress.stream = nowhere_.get();
    options.execution.progress.listener = [&heard, then](std::uint64_t done, std::uint64_t total,
                                                         const std::string& detail) {
      heard.push_back({done, total, detail});
      if (then) then();
    };
    return options;
  }
  WorkBoard board() const { return WorkBoard((directory_ / "cells").string()); }
  bool is_done(const Cell& cell) const {
    return fs::exists(board().path(training_name(cell), result_name(cell)));
  }
  /// By the last checkpoint.
  std::uint64_t steps_of(const Cell& cell) const {
    const auto steps = read_steps(board().path(training_name(cell)));
    return steps ? steps->done : 0;
  }
  /// The cost that the study's only worker has written to its file since this call began.
  double recorded_cost() const;

  GridSettings grid_ = two_cells();
  std::vector<Cell> cells_ = cells(grid_);
  fs::path directory_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_{std::fopen("/dev/null", "w"),
                                                           std::fclose};
};

double GridProgressTest::recorded_cost() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::optional<int> first;
  while (std::chrono::steady_clock::now() < deadline) {
    for (const auto& file : fs::directory_iterator(board().worker_path(""))) {
      std::ifstream stream(file.path());
      const std::string text(std::istreambuf_iterator<char>(stream), {});
      const auto sign = nlohmann::json::parse(text.substr(text.find('\n') + 1), nullptr, false);
      if (!sign.is_object()) continue;  // it is just being written
      const int beat = sign.at("beat");
      if (!first) first = beat;
      // The next beat may have read the cost before this call; the beat after that has not.
      if (beat >= *first + 2) return sign.at("cost");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ADD_FAILURE() << "the worker's file does not change";
  return std::numeric_limits<double>::quiet_NaN();
}

TEST_F(GridProgressTest, OfAWorkerAloneCountsEveryStepOfEveryCellOnce) {
  std::vector<Report> heard;
  ASSERT_TRUE(run_grid(grid_, options(heard)));
  std::uint64_t before = 0;
  for (const Report& report : heard) {
    EXPECT_EQ(report.total, 2 * kSteps);
    EXPECT_GE(report.done, before);
    EXPECT_LE(report.done, before + 1);
    before = report.done;
    EXPECT_THAT(report.detail, testing::HasSubstr("copy, 1 head, seed"));
  }
  EXPECT_EQ(before, 2 * kSteps);
}

TEST_F(GridProgressTest, OfAResumedRunBeginsWithTheStepsOfAllItsCheckpoints) {
  std::vector<Report> heard;
  GridOptions both = options(heard);
  both.set_size = 2;
  both.execution.stop = [&] { return !heard.empty() && heard.back().done >= kSteps; };
  EXPECT_FALSE(run_grid(grid_, both));
  const std::uint64_t left = steps_of(cells_[0]) + steps_of(cells_[1]);
  EXPECT_EQ(left, kSteps);
  EXPECT_GT(steps_of(cells_[1]), 0U);
  heard.clear();
  ASSERT_TRUE(run_grid(grid_, options(heard)));
  EXPECT_EQ(heard.front().done, left + 1);
  EXPECT_EQ(heard.back().done, 2 * kSteps);
}

// While the first worker trains its cell, the second worker does the other cell and leaves.
TEST_F(GridProgressTest, OfSeveralWorkersCountsWhatTheOthersHaveDone) {
  std::vector<Report> first;
  std::vector<Report> second;
  std::uint64_t checkpoint = 0;
  const GridMerge merge = {[] { return "nothing"; }, [](const std::vector<CellResult>&) {}};
  const auto join = [&] {
    if (first.size() != kSteps / 2) return;
    checkpoint = steps_of(cells_[0]) + steps_of(cells_[1]);
    GridOptions other = options(second);
    other.place = {1, 2};
    other.execution.stop = [&] { return is_done(cells_[0]) || is_done(cells_[1]); };
    EXPECT_EQ(work_on_grid(grid_, other, merge), GridEnd::kStopped);
  };
  GridOptions one = options(first, join);
  one.place = {0, 2};
  one.checkpoint_interval = 0.0;
  EXPECT_EQ(work_on_grid(grid_, one, merge), GridEnd::kMerged);

  EXPECT_GT(checkpoint, 0U);
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(second.front().done, checkpoint + 1);
  EXPECT_EQ(second.back().done, checkpoint + kSteps);
  EXPECT_EQ(second.back().detail, "others go on");
  EXPECT_EQ(first.back().done, 2 * kSteps);
  EXPECT_EQ(first.back().total, 2 * kSteps);
  EXPECT_EQ(first.back().detail, "");
}

TEST_F(GridProgressTest, RecordsTheCostOfTheStepsThatTheWorkerHasDoneItself) {
  grid_.seeds = {1};
  std::vector<Report> heard;
  std::vector<double> recorded;
  GridOptions where = options(heard, [&] {
    if (recorded.size() < 3) recorded.push_back(recorded_cost());
  });
  where.timeout = 0.012;  // a beat of the worker's file is a sixth of it
  where.execution.stop = [&] { return recorded.size() == 3; };
  EXPECT_FALSE(run_grid(grid_, where));
  const double cell = read_plan(plan_paths(board()).front()).pieces.front().cost;
  const double step = cell / static_cast<double>(kSteps);
  EXPECT_GT(step, 0.0);
  EXPECT_THAT(recorded, testing::Pointwise(testing::DoubleEq(),
                                           std::vector<double>{step, 2 * step, 3 * step}));
  // A second worker resumes the cell: it does not count the first worker's three steps.
  EXPECT_EQ(steps_of(cells_.front()), 3U);
  recorded.clear();
  EXPECT_FALSE(run_grid(grid_, where));
  EXPECT_THAT(recorded, testing::Pointwise(testing::DoubleEq(),
                                           std::vector<double>{step, 2 * step, 3 * step}));
  EXPECT_EQ(steps_of(cells_.front()), 6U);
}

}  // namespace
}  // namespace synergraph
