#include "synergraph/study/grid_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

#include "synergraph/cluster/sealed_result.h"
#include "synergraph/cluster/work_board.h"
#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/study/cell_file.h"
#include "synergraph/study/grid_request.h"
#include "synergraph/study/measure_model.h"
#include "synergraph/train/checkpoint.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

GridSettings small_grid() {
  GridSettings grid;
  grid.tasks = {"copy", "cycle"};
  grid.heads = {1, 2};
  grid.train.model = {
      .vocabulary = 12, .length = 8, .width = 8, .heads = 1, .layers = 2, .hidden = 8};
  grid.train.sequences = 40;
  grid.train.batch = 10;
  grid.train.epochs = 3;
  grid.measure.samples = 10;
  return grid;
}

/// Where a study keeps a cell's training, and its result.
std::string training_of(const std::string& directory, const Cell& cell) {
  return WorkBoard(directory + "/cells").path(training_name(cell));
}
std::string result_of(const std::string& directory, const Cell& cell) {
  return WorkBoard(directory + "/cells").path(training_name(cell), result_name(cell));
}

class GridTest : public testing::Test {
 protected:
  GridTest() {
    root_ = fs::path(testing::TempDir()) /
            (std::string("grid_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~GridTest() override { fs::remove_all(root_); }

  GridOptions options(const std::string& name) const {
    GridOptions options;
    options.directory = (root_ / name).string();
    options.execution.threads = 2;
    return options;
  }
  /// The results as the bytes of their files.
  std::vector<std::string> bytes(const std::vector<CellResult>& results) const {
    std::vector<std::string> texts;
    const std::string path = (root_ / "bytes.json").string();
    for (const CellResult& result : results) {
      write_result(path, result);
      texts.push_back(read_file(path));
    }
    return texts;
  }

  fs::path root_;
};

TEST(Cells, AreEveryTaskWithEveryHeadCountAndSeed) {
  GridSettings grid = small_grid();
  grid.seeds = {7, 3};
  const std::vector<Cell> all = cells(grid);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0].train.task, "copy");
  EXPECT_EQ(all[1].train.seed, 3U);
  EXPECT_EQ(all[2].train.model.heads, 2);
  EXPECT_EQ(all[4].train.task, "cycle");
}

TEST(Cells, HaveNamesThatChangeWithWhatTheyDependOn) {
  const Cell cell = cells(small_grid()).front();
  EXPECT_THAT(training_name(cell), testing::StartsWith("copy-1-heads-seed-1-"));
  std::vector<Cell> trainings(5, cell);
  trainings[0].train.epochs = 4;
  trainings[1].train.dropout = 0.2;
  trainings[2].train.model.hidden = 16;
  trainings[3].train.adam.learning_rate = 2e-3;
  trainings[4].train.seed = 2;
  for (const Cell& other : trainings) {
    EXPECT_NE(training_name(other), training_name(cell));
    EXPECT_NE(result_name(other), result_name(cell));
  }
  std::vector<Cell> measurements(5, cell);
  measurements[0].measure.samples = 11;
  measurements[1].measure.eps = {0.25, 0.1};
  measurements[2].measure.cutoff = 50;
  measurements[3].measure.horizon = 50;
  measurements[4].measure.subset_samples = 3;
  for (const Cell& other : measurements) {
    EXPECT_EQ(training_name(other), training_name(cell));  // no need to train again
    EXPECT_NE(result_name(other), result_name(cell));
  }
}

TEST(Cells, AreRefusedBeforeAnyWork) {
  const auto refused = [](const auto& change) {
    GridSettings grid = small_grid();
    change(grid);
    EXPECT_THROW(validate(grid), UsageError);
  };
  refused([](GridSettings& grid) { grid.tasks = {"copy", "sing"}; });
  refused([](GridSettings& grid) { grid.tasks = {}; });
  refused([](GridSettings& grid) { grid.tasks = {"data"}; });
  refused([](GridSettings& grid) { grid.heads = {1, 3}; });  // does not divide the width
  refused([](GridSettings& grid) { grid.seeds = {1, 1}; });
  refused([](GridSettings& grid) {
    grid.seeds.resize(250'001);  // times four
    std::iota(grid.seeds.begin(), grid.seeds.end(), std::uint64_t{0});
  });
  refused([](GridSettings& grid) { grid.measure.samples = 41; });
  refused([](GridSettings& grid) { grid.measure.subset_samples = 11; });
  refused([](GridSettings& grid) { grid.measure.subset_samples = -1; });
  EXPECT_NO_THROW(validate(small_grid()));
}

/// A layer of which every number is the same in all samples of a cell.
LayerSummary even_layer(const Cell& cell) {
  LayerSummary layer;
  const auto samples = static_cast<std::size_t>(cell.measure.samples);
  for (const Quantity& quantity : cell_quantities(cell.measure))
    layer.numbers.emplace(quantity, summarise(std::vector<double>(samples, 0.5)));
  return layer;
}

/// The same text with a checksum that fits it.
std::string sealed_again(const std::string& text) {
  return seal_json(text.substr(0, text.find(",\n \"checksum\"")));
}

TEST_F(GridTest, ResultsComeBackFromTheirFiles) {
  CellResult result;
  result.cell = cells(small_grid()).front();
  result.loss = 0.1;
  result.accuracy = 0.75;
  result.trained_on = {"abacus", "cpu (x)"};
  result.run_on = "cpu (x)";
  const auto run = [](double loss, double accuracy) {
    Evaluation evaluation;
    evaluation.loss = loss;
    evaluation.accuracy = accuracy;
    return evaluation;
  };
  result.control = {run(0.1, 0.7), run(4.0, 0.05), {run(0.2, 0.6), run(1.0 / 3.0, 0.5)}};
  LayerSummary layer = even_layer(result.cell);
  layer.rank_correlation = std::numeric_limits<double>::quiet_NaN();
  layer.with_synergy = 3;
  const double infinity = std::numeric_limits<double>::infinity();
  const auto nine_and = [&](double tenth) {
    std::vector<double> values(10, 1.0 / 3.0);
    values.back() = tenth;
    return summarise(values);
  };
  layer.numbers[Quantity::kTruncatedHittingMean] = nine_and(0.9);
  layer.numbers[Quantity::kMinimaxFidelity] = summarise(std::vector<double>(10, 1e-300));
  layer.numbers[Quantity::kSynergy] = nine_and(std::nan(""));
  layer.numbers[Quantity::kMixingSynergy] = summarise(std::vector<double>(10, std::nan("")));
  layer.numbers[Quantity::kHittingMax] = nine_and(infinity);
  layer.numbers[Quantity::kHittingMean] = summarise(std::vector<double>(10, infinity));
  result.exact = {layer, layer};
  result.published = {layer, layer};
  const std::string path = (root_ / "result.json").string();
  EXPECT_FALSE(read_result(path, result.cell).has_value());
  write_result(path, result);
  const std::optional<CellResult> back = read_result(path, result.cell);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(bytes({*back}), bytes({result}));
  EXPECT_EQ(back->exact[1][Quantity::kTruncatedHittingMean].median, 1.0 / 3.0);
  EXPECT_EQ(back->exact[1][Quantity::kHittingMean].mean, infinity);
  EXPECT_TRUE(std::isnan(back->published[0].rank_correlation));
  EXPECT_EQ(back->trained_on, result.trained_on);
  EXPECT_EQ(back->run_on, result.run_on);
  EXPECT_EQ(back->control.intact.accuracy, 0.7);
  EXPECT_EQ(back->control.without_attention.loss, 4.0);
  EXPECT_EQ(back->control.without_layer.at(1).loss, 1.0 / 3.0);

  Cell other = result.cell;
  other.measure.samples = 9;
  EXPECT_THROW(read_result(path, other), InputError);
  const std::string text = read_file(path);
  std::string changed = text;
  changed[text.find("0.75") + 3] = '6';
  write_file(path, changed);
  EXPECT_THROW(read_result(path, result.cell), InputError);
  for (std::size_t size = 0; size < text.size(); size += 97) {
    write_file(path, text.substr(0, size));
    EXPECT_THROW(read_result(path, result.cell), InputError) << size;
  }
  write_file(path, text.substr(0, text.size() - 1));
  EXPECT_THROW(read_result(path, result.cell), InputError);

  // Earlier versions did not say on what it was done.
  write_file(path, sealed_again(text.substr(0, text.find(",\n \"trained_on\""))));
  const std::optional<CellResult> old = read_result(path, result.cell);
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(old->accuracy, 0.75);
  EXPECT_TRUE(old->trained_on.empty() && old->run_on.empty());
}

/// A result of which one thing cannot be.
class ResultRanges : public GridTest {
 protected:
  ResultRanges() {
    const LayerSummary layer = even_layer(cell_);
    whole_.cell = cell_;
    whole_.loss = 0.1;
    whole_.accuracy = 0.75;
    whole_.control.without_layer.resize(2);
    whole_.exact = whole_.published = {layer, layer};
  }
  void expect_unreadable(const std::string& message = "") const {
    try {
      read_result(path_, cell_);
      ADD_FAILURE() << "was read";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(path_ + ": not a result"));
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  }
  /// It is sealed, so that its checksum does not tell.
  template <class Damage>
  void expect_refused(const Damage& damage, const std::string& message = "") {
    CellResult damaged = whole_;
    damage(damaged);
    write_result(path_, damaged);
    expect_unreadable(message);
  }
  /// The text with one piece replaced by another.
  void expect_text_refused(const std::string& part, const std::string& other,
                           const std::string& message = "") {
    write_result(path_, whole_);
    std::string text = read_file(path_);
    text.replace(text.find(part), part.size(), other);
    write_file(path_, sealed_again(text));
    expect_unreadable(message);
  }

  Cell cell_ = cells(small_grid()).front();
  CellResult whole_;
  std::string path_ = (root_ / "result.json").string();
};

TEST_F(ResultRanges, ThereIsNoResultWithoutAChecksum) {
  write_result(path_, whole_);
  EXPECT_NO_THROW(read_result(path_, cell_));
  const std::string text = read_file(path_);
  write_file(path_, sealed_again(text));
  EXPECT_EQ(read_file(path_), text);
  const std::size_t seal = text.find(",\n \"checksum\"");
  for (const std::string& without :
       {text.substr(0, seal) + "\n}\n", text.substr(0, seal) + "}",
        text.substr(0, seal) + ",\n \"Checksum\": \"0123456789abcdef\"\n}\n"}) {
    write_file(path_, without);
    expect_unreadable("it has no checksum");
  }
  write_file(path_, text + " ");  // the seal is not at the end
  expect_unreadable("checksum");
}

TEST_F(ResultRanges, EveryNumberIsThereAndNoOther) {
  for (const Quantity& quantity : cell_quantities(cell_.measure)) {
    SCOPED_TRACE(key_of(quantity));
    expect_refused([&](CellResult& r) { r.published[1].numbers.erase(quantity); },
                   key_of(quantity) + " is missing");
  }
  for (const char* key : {"hitting_max", "mixing_time_0.25", "mixing_synergy"})
    EXPECT_TRUE(whole_.exact[0].numbers.contains(parse_quantity(key).value())) << key;
  const Summary summary = summarise(std::vector<double>(10, 0.5));
  expect_refused([&](CellResult& r) { r.exact[0].numbers[Quantity::mixing_time(0.5)] = summary; },
                 "another cell");
  expect_refused([&](CellResult& r) { r.exact.pop_back(); }, "1 layers, not 2");
  expect_refused([&](CellResult& r) { r.published.push_back(r.published[0]); }, "3 layers, not 2");
  expect_text_refused("0.5,\n", "0.5,\n0.5,\n", "a list of other numbers");
  expect_text_refused("\"loss\": 0.1", "\"loss\": \"low\"", "not a number");
  expect_text_refused("\"with_synergy\": 0", "\"with_synergy\": 0.0", "no count");
}

TEST_F(ResultRanges, CountsAreOfTheSamplesOfTheCell) {
  const auto of_number = [&](const auto& change, const Quantity& quantity) {
    SCOPED_TRACE(key_of(quantity));
    expect_refused([&](CellResult& r) { change(r.exact[1].numbers.at(quantity)); },
                   key_of(quantity));
  };
  for (const Quantity& quantity : cell_quantities(cell_.measure)) {
    of_number([](Summary& s) { s.samples = 9; }, quantity);
    of_number([](Summary& s) { s.samples = 11; }, quantity);
    of_number([](Summary& s) { s.never = 11; }, quantity);
    of_number([](Summary& s) { s.never = 1; }, quantity);       // and its maximum is finite
    of_number([](Summary& s) { s.undefined = 10; }, quantity);  // and its numbers are not NaN
    of_number([](Summary& s) { s.undefined = 11; }, quantity);
  }
  expect_refused([](CellResult& r) { r.exact[0].with_synergy = 11; }, "synergy");
  expect_refused([](CellResult& r) { r.exact[0].synergy_undecided = -1; });
  expect_refused([](CellResult& r) { r.exact[0].with_synergy = r.exact[0].synergy_undecided = 6; },
                 "synergy");
}

TEST_F(ResultRanges, ValuesLieInTheRangesOfTheirQuantities) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double Summary::*> values = {&Summary::mean,        &Summary::min,
                                                 &Summary::median,      &Summary::max,
                                                 &Summary::quantile_10, &Summary::quantile_90};
  for (const Quantity& quantity : cell_quantities(cell_.measure)) {
    SCOPED_TRACE(key_of(quantity));
    const auto refused = [&](double Summary::*member, double value) {
      expect_refused([&](CellResult& r) { r.exact[1].numbers.at(quantity).*member = value; },
                     key_of(quantity));
    };
    for (double Summary::*member : values)
      for (const double wrong : {-5e300, -1e-6, infinity, std::nan("")}) refused(member, wrong);
    for (const double wrong : {-1e-300, 5e300, infinity, std::nan("")})
      refused(&Summary::std, wrong);
    refused(&Summary::max, 5e300);  // no value exceeds the sum of all
    refused(&Summary::min, 0.75);
    refused(&Summary::quantile_10, 0.25);
    refused(&Summary::median, 0.25);
    refused(&Summary::quantile_90, 0.25);
    refused(&Summary::max, 0.25);
    refused(&Summary::mean, 0.25);
    refused(&Summary::mean, 0.75);
    const bool truncated = quantity.kind == Quantity::kTruncatedHittingMean ||
                           quantity.kind == Quantity::kTruncatedHittingMax;
    const double most = truncated ? 100.0 : quantity.is_share() ? 1.0 : infinity;
    std::vector<double> many(10, 0.5);
    many.back() = most;
    CellResult at_the_end = whole_;
    at_the_end.exact[0].numbers[quantity] = summarise(many);
    write_result(path_, at_the_end);
    EXPECT_NO_THROW(read_result(path_, cell_));
    if (most == infinity) continue;
    many.back() = 1.001 * most;
    expect_refused([&](CellResult& r) { r.exact[0].numbers[quantity] = summarise(many); },
                   key_of(quantity));
    many.back() = infinity;
    expect_refused([&](CellResult& r) { r.exact[0].numbers[quantity] = summarise(many); },
                   key_of(quantity));
  }
  expect_refused([](CellResult& r) { r.accuracy = 1.5; }, "the accuracy is 1.5");
  expect_refused([](CellResult& r) { r.accuracy = -0.5; }, "the accuracy is -0.5");
  expect_refused([](CellResult& r) { r.loss = -0.5; }, "the loss is -0.5");
  expect_refused([](CellResult& r) { r.control.without_attention.accuracy = 1.5; },
                 "the accuracy is 1.5");
  expect_refused([](CellResult& r) { r.control.without_layer[1].loss = -0.5; }, "the loss is -0.5");
  expect_refused([](CellResult& r) { r.control.without_layer.pop_back(); },
                 "a control of 3 runs, not 4");
  expect_refused([](CellResult& r) { r.published[0].rank_correlation = 1.5; }, "rank correlation");
  expect_refused([](CellResult& r) { r.published[0].rank_correlation = -1.5; }, "rank correlation");
}

TEST_F(ResultRanges, AFileThatNoResultCanFillIsNotRead) {
  write_file(path_, seal_json("{\n \"cell\": " + std::string(1U << 20U, '[')));
  EXPECT_THROW(read_result(path_, cell_), InputError);
  try {
    read_result(path_, cell_);
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("larger than the limit"));
  }
  // One with numbers of as many digits as there are is.
  Cell wide = cell_;
  wide.train.model.layers = 50;
  wide.measure.eps.clear();
  for (int k = 1; k <= 40; ++k) wide.measure.eps.push_back(1.0 / (7.0 + k));
  std::vector<double> long_numbers;
  for (int k = 1; k <= 10; ++k) long_numbers.push_back(-1.2345678901234567e-101 / k + 0.123456789);
  LayerSummary layer = even_layer(wide);
  for (auto& [quantity, summary] : layer.numbers) summary = summarise(long_numbers);
  const std::vector<LayerSummary> layers(50, layer);
  AttentionControl control;
  control.without_layer.resize(50);
  write_result(path_, {.cell = wide,
                       .loss = 0.1,
                       .accuracy = 0.75,
                       .control = control,
                       .exact = layers,
                       .published = layers});
  EXPECT_GT(fs::file_size(path_), 1U << 20U);
  EXPECT_TRUE(read_result(path_, wide).has_value());
}

TEST_F(GridTest, GivesTheSameResultsForAnyNumberOfJobsAndThreads) {
  const GridSettings grid = small_grid();
  GridOptions one = options("one");
  one.execution.threads = 1;
  GridOptions many = options("many");
  many.jobs = 3;
  many.execution.threads = 5;
  const auto first = run_grid(grid, one);
  const auto second = run_grid(grid, many);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(bytes(*first), bytes(*second));
  EXPECT_EQ(first->size(), 4U);
  EXPECT_EQ(first->at(3).published.size(), 2U);
  EXPECT_TRUE(first->at(2).subsets.empty());  // one head
  ASSERT_EQ(first->at(3).subsets.size(), 2U);
  EXPECT_GT(first->at(3).subsets[1].speed[SubsetNumber::kAll], 0.0);
  EXPECT_EQ(first->at(3).exact[0][Quantity::kTruncatedHittingMean].samples, 10U);
}

TEST_F(GridTest, DoesNotRepeatWhatIsDone) {
  GridSettings grid = small_grid();
  grid.tasks = {"copy"};
  grid.heads = {2};
  const GridOptions where = options("run");
  const auto first = run_grid(grid, where);
  const std::string cell = training_of(where.directory, cells(grid).front());
  const auto trained = fs::last_write_time(cell + "/state.safetensors");
  const auto again = run_grid(grid, where);
  EXPECT_EQ(bytes(*first), bytes(*again));
  EXPECT_EQ(fs::last_write_time(cell + "/state.safetensors"), trained);

  // A stored result is believed, whatever the models beside it: nothing is measured again.
  fs::remove(cell + "/model.safetensors");
  EXPECT_EQ(bytes(*run_grid(grid, where)), bytes(*first));
}

TEST_F(GridTest, ContinuesWhatEarlierVersionsHaveLeft) {
  const GridSettings grid = small_grid();
  const auto whole = run_grid(grid, options("whole"));
  const GridOptions where = options("old");
  const std::vector<Cell> all = cells(grid);
  const auto old = [&](std::size_t k) {
    return fs::path(where.directory) / "cells" / training_name(all[k]);
  };
  const std::string whole_directory = options("whole").directory;
  for (const std::size_t k : {0U, 2U}) {  // trained, and the second measured
    fs::create_directories(old(k));
    fs::copy(training_of(whole_directory, all[k]), old(k));
  }
  const std::string result = read_file(result_of(whole_directory, all[2]));
  write_file((old(2) / result_name(all[2])).string(), result);
  fs::remove(old(2) / "state.safetensors");  // not needed any more
  // A result without a checksum is measured again.
  const std::string unsealed = read_file(result_of(whole_directory, all[0]));
  const std::string aside = (old(0) / result_name(all[0])).string();
  write_file(aside, unsealed.substr(0, unsealed.find(",\n \"checksum\"")) + "\n}\n");
  EXPECT_EQ(bytes(run_grid(grid, where).value()), bytes(*whole));
  EXPECT_TRUE(fs::exists(aside + ".damaged"));
  EXPECT_FALSE(fs::exists(training_of(where.directory, all[0])));
  EXPECT_FALSE(fs::exists(training_of(where.directory, all[2])));
}

TEST_F(GridTest, IsSharedByWorkersThatDoEachCellOnce) {
  GridSettings grid = small_grid();
  grid.seeds = {1, 2, 3};
  const auto whole = run_grid(grid, options("whole"));
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::vector<std::vector<CellResult>> merged;
  std::atomic<int> finished = 0;
  for (int rank = 0; rank < 3; ++rank)
    workers.emplace_back([&, rank] {
      GridOptions where = options("shared");
      where.place = {rank, 3};
      where.execution.threads = 1;
      const GridEnd end = work_on_grid(grid, where,
                                       {[&] {
                                          const std::lock_guard lock(mutex);
                                          return std::string(merged.empty() ? "" : "merged");
                                        },
                                        [&](std::vector<CellResult> results) {
                                          const std::lock_guard lock(mutex);
                                          merged.push_back(std::move(results));
                                        }});
      if (end == GridEnd::kFinished) ++finished;
    });
  for (std::thread& worker : workers) worker.join();
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(finished, 2);
  EXPECT_EQ(bytes(merged.front()), bytes(*whole));
}

TEST_F(GridTest, ContinuesAfterAStop) {
  const GridSettings grid = small_grid();
  const auto whole = run_grid(grid, options("whole"));
  GridOptions where = options("stopped");
  std::atomic<bool> stop{true};
  where.execution.stop = [&] { return stop.load(); };
  EXPECT_FALSE(run_grid(grid, where).has_value());
  stop = false;
  EXPECT_EQ(bytes(*run_grid(grid, where)), bytes(*whole));
}

/// The grid in sets; every file of a cell but the log and run.json, which tell the time.
class GridSetTest : public GridTest {
 protected:
  GridSetTest() {
    grid_.seeds = {1, 2, 3};
    whole_ = run_grid(grid_, options("whole")).value();
  }
  void expect_whole(const std::string& name,
                    const std::optional<std::vector<CellResult>>& results) {
    ASSERT_TRUE(results);
    EXPECT_EQ(bytes(*results), bytes(whole_));
    const std::string here = (root_ / name).string();
    const std::string whole = (root_ / "whole").string();
    for (const Cell& cell : cells(grid_)) {
      EXPECT_EQ(read_file(result_of(here, cell)), read_file(result_of(whole, cell)));
      for (const char* file : {"/model.safetensors", "/state.safetensors"})
        EXPECT_EQ(read_file(training_of(here, cell) + file),
                  read_file(training_of(whole, cell) + file))
            << training_name(cell) << file;
    }
  }
  GridOptions in_sets(const std::string& name, int size, int jobs) const {
    GridOptions where = options(name);
    where.set_size = size;
    where.jobs = jobs;
    return where;
  }

  GridSettings grid_ = small_grid();
  std::vector<CellResult> whole_;
};

TEST_F(GridSetTest, GivesTheSameBytesInSetsOfAnySize) {
  for (const auto& [size, jobs] : {std::pair{2, 1}, {4, 2}, {100, 1}}) {
    const std::string name = "sets" + std::to_string(size);
    expect_whole(name, run_grid(grid_, in_sets(name, size, jobs)));
  }
}

TEST_F(GridSetTest, KilledAtAnyTimeItEndsInTheSameBytes) {
  RandomSequence draws(1, Purpose::kTest);
  int killed = 0;
  for (int k = 0; k < 12; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      GridOptions where = in_sets("killed", 2 + k % 5, 1 + k % 2);
      where.checkpoint_interval = 0.0;
      run_grid(grid_, where);
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + draws.below(60)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) ++killed;
  }
  EXPECT_GE(killed, 1);
  expect_whole("killed", run_grid(grid_, in_sets("killed", 6, 1)));
}

TEST_F(GridSetTest, ACellThatFailsDoesNotLoseTheOthersOfItsSet) {
  // The second cell's run is one that diverges in its next step.
  const std::vector<Cell> all = cells(grid_);
  const std::string study = (root_ / "failing").string();
  const auto directory = [&](std::size_t k) { return training_of(study, all[k]); };
  TrainingRun run = new_run(all[1].train);
  for (float& value : run.state.model.values()) value *= 1e25F;
  fs::create_directories(directory(1));
  write_checkpoint(directory(1), run);
  EXPECT_THROW(run_grid(grid_, in_sets("failing", 6, 1)), InputError);
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_EQ(fs::exists(result_of(study, all[k])), k != 1) << k;
  fs::remove_all(directory(1));
  expect_whole("failing", run_grid(grid_, in_sets("failing", 6, 1)));
}

TEST(AttainableAccuracy, OfCycleLacksTheFirstToken) {
  TrainSettings settings;
  EXPECT_EQ(attainable_accuracy(settings), 1.0);
  settings.task = "cycle";
  EXPECT_DOUBLE_EQ(attainable_accuracy(settings), (99.0 + 1.0 / 256.0) / 100.0);
}

TEST(CutSets, NoMoreCellsAreTrainedAtOnceThanFit) {
  GridSettings grid = small_grid();  // two cells of a shape: two sets of them side by side
  for (const int jobs : {0, 1, 2, 7})
    for (const int room : {0, 1, 2, 3, 5, 10, 63, 64, 65, 200, std::numeric_limits<int>::max()}) {
      GridOptions options;
      options.jobs = jobs;
      cut_sets(grid, room, options);
      EXPECT_GE(options.jobs, 1);
      EXPECT_LE(options.jobs, jobs == 0 ? 2 : jobs);
      EXPECT_GE(options.set_size, 1);
      EXPECT_LE(options.set_size, 64);
      EXPECT_LE(std::int64_t{options.jobs} * options.set_size, std::max(room, 1));
    }
  GridOptions options;
  cut_sets(grid, 1000, options);  // as if there were no limit
  EXPECT_EQ(options.jobs, 2);
  EXPECT_EQ(options.set_size, 64);
  options.jobs = 0;
  cut_sets(grid, 9, options);
  EXPECT_EQ(options.jobs, 2);
  EXPECT_EQ(options.set_size, 4);
}

}  // namespace
}  // namespace synergraph
