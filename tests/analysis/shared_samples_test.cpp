#include "synergraph/analysis/shared_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/error.h"
#include "synergraph/model/tasks.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

class SharedSamplesTest : public testing::Test {
 protected:
  SharedSamplesTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("shared_samples_") + info->name());
    fs::remove_all(root_);
  }
  ~SharedSamplesTest() override { fs::remove_all(root_); }

  /// A worker's part of work in which every sample is a range of its own.
  SharedSamples part(int rank, int size) const {
    SharedSamples how;
    how.directory = root_.string();
    how.settings = "a test";
    how.least_cost = 1e-30;
    how.place = {rank, size};
    return how;
  }
  /// Calls worker(rank) in as many threads; how many of them have merged.
  static int run_workers(int size, const std::function<SharedEnd(int)>& worker) {
    std::atomic<int> merged = 0;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] { merged += worker(rank) == SharedEnd::kMerged ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    return merged;
  }

  fs::path root_;
};

TEST_F(SharedSamplesTest, AreEachMeasuredOnceAndRestoredInOrder) {
  for (const int samples : {1, 7, 600}) {
    std::vector<std::atomic<int>> measured(static_cast<std::size_t>(samples));
    std::vector<int> restored;
    const int merged = run_workers(3, [&](int rank) {
      SampleWork work;
      work.measure = [&](const std::vector<SampleRange>& ranges) {
        for (const SampleRange& range : ranges)
          for (int s = range.begin; s < range.end; ++s) ++measured[static_cast<std::size_t>(s)];
      };
      work.take = [](const SampleRange& range) { return std::to_string(range.begin); };
      work.restore = [&](const SampleRange& range, std::string_view bytes) {
        EXPECT_EQ(bytes, std::to_string(range.begin));
        for (int s = range.begin; s < range.end; ++s) restored.push_back(s);
      };
      work.finish = [] {};
      SharedSamples how = part(rank, 3);
      how.settings = std::to_string(samples);
      return share_samples(how, samples, {.threads = 2}, work);
    });
    EXPECT_EQ(merged, 1);
    for (const auto& times : measured) EXPECT_EQ(times, 1);
    std::vector<int> all(static_cast<std::size_t>(samples));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(restored, all);
  }
}

TEST_F(SharedSamplesTest, OfWhichOneFailsAreDoneButForThatOne) {
  std::atomic<int> measured = 0;
  SampleWork work;
  work.measure = [&](const std::vector<SampleRange>& ranges) {
    for (const SampleRange& range : ranges)
      if (range.begin == 5) throw InputError("sample 5 is bad");
  };
  work.take = [&](const SampleRange&) {
    ++measured;
    return std::string();
  };
  work.restore = [](const SampleRange&, std::string_view) {};
  work.finish = [] { ADD_FAILURE() << "was merged"; };
  try {
    share_samples(part(0, 2), 12, {.threads = 4}, work);
    ADD_FAILURE() << "all is well";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "samples 5 to 5: sample 5 is bad");
  }
  EXPECT_EQ(measured, 11);
}

// The input may be rewritten within one tick of the file system's clock: a part that is exactly as
// old as its input may describe the input before.
TEST_F(SharedSamplesTest, PartsThatAreNoYoungerThanTheInputAreMeasuredAgain) {
  std::vector<int> measured;
  std::vector<int> restored;
  SampleWork work;
  work.measure = [&](const std::vector<SampleRange>& ranges) {
    for (const SampleRange& range : ranges) measured.push_back(range.begin);
  };
  work.take = [](const SampleRange& range) { return std::to_string(range.begin); };
  work.restore = [&](const SampleRange& range, std::string_view) {
    restored.push_back(range.begin);
  };
  work.finish = [] {};
  SharedSamples how = part(0, 1);
  EXPECT_EQ(share_samples(how, 3, {.threads = 1}, work), SharedEnd::kMerged);
  EXPECT_EQ(measured, (std::vector<int>{0, 1, 2}));

  constexpr std::int64_t kChanged = 1'700'000'000;  // seconds
  int parts = 0;
  for (const auto& file : fs::recursive_directory_iterator(root_)) {
    if (file.path().extension() != ".part") continue;
    const std::string name = file.path().filename().string();
    for (int s = 0; s < 3; ++s)
      if (name.starts_with("samples-" + std::to_string(s) + "-")) {
        const timespec time = {kChanged - 1 + s, 0};  // older, as old, younger
        const std::array<timespec, 2> times = {time, time};
        ASSERT_EQ(utimensat(AT_FDCWD, file.path().c_str(), times.data(), 0), 0);
        ++parts;
      }
  }
  ASSERT_EQ(parts, 3);
  measured.clear();
  restored.clear();
  how.changed = kChanged * 1'000'000'000;
  EXPECT_EQ(share_samples(how, 3, {.threads = 1}, work), SharedEnd::kMerged);
  EXPECT_EQ(measured, (std::vector<int>{0, 1}));
  EXPECT_EQ(restored, (std::vector<int>{0, 1, 2}));
}

/// A small model on random sequences.
class SharedModelTest : public SharedSamplesTest {
 protected:
  SharedModelTest() : model_(config()) { initialise(model_, 3); }
  static ModelConfig config() {
    return {.vocabulary = 9, .length = 7, .width = 8, .heads = 4, .layers = 2, .hidden = 8};
  }
  std::unique_ptr<ModelAttention> source() const {
    return std::make_unique<ModelAttention>(model_, random_sequences(1, 23, 7, 9),
                                            &find_task("copy"), TokenRange{});
  }

  Model model_;
};

TEST_F(SharedModelTest, IsAnalysedToTheSameNumbersByAnyNumberOfWorkers) {
  AnalysisOptions options;
  options.execution.threads = 1;
  const auto whole_source = source();
  const Analysis whole = analyse(*whole_source, weights_of_model(model_), options);
  for (const int workers : {1, 3}) {
    Analysis shared;
    Evaluation evaluation;
    EXPECT_EQ(run_workers(workers,
                          [&](int rank) {
                            const auto own = source();
                            SharedSamples how = part(rank, workers);
                            how.settings = std::to_string(workers);
                            return analyse_shared(*own, weights_of_model(model_), options, how,
                                                  [&](Analysis all) {
                                                    shared = std::move(all);
                                                    evaluation = own->evaluation().value();
                                                  });
                          }),
              1);
    EXPECT_EQ(evaluation.loss, whole_source->evaluation()->loss);
    EXPECT_EQ(evaluation.accuracy, whole_source->evaluation()->accuracy);
    for (std::size_t l = 0; l < 2; ++l)
      for (const auto& [quantity, summary] : whole.summaries[0][l].all.numbers) {
        const Summary& other = shared.summaries[0][l].all[quantity];
        EXPECT_EQ(other.mean, summary.mean) << key_of(quantity);
        EXPECT_EQ(other.std, summary.std) << key_of(quantity);
        EXPECT_EQ(other.median, summary.median) << key_of(quantity);
      }
  }
}

TEST_F(SharedModelTest, HasHeadsOfTheSameValuesForAnyNumberOfWorkers) {
  HeadValueOptions options;
  options.weight_samples = 2;
  options.execution.threads = 1;
  for (const int exact_heads : {4, 2}) {
    options.exact_heads = exact_heads;
    options.sampling.max_permutations = 30;
    const auto whole_source = source();
    const LayerWeights weights = weights_of_model(model_);
    const HeadValues whole = value_heads(*whole_source, weights, options);
    const StackAnalysis whole_stack = analyse_stack(*whole_source, weights, {});
    HeadValues shared;
    std::optional<StackAnalysis> stack;
    EXPECT_EQ(run_workers(3,
                          [&](int rank) {
                            const auto own = source();
                            SharedSamples how = part(rank, 3);
                            how.settings = std::to_string(exact_heads);
                            return value_heads_shared(
                                *own, weights, options, StackOptions{}, weights, how,
                                [&](HeadValues all, std::optional<StackAnalysis> through) {
                                  shared = std::move(all);
                                  stack = std::move(through);
                                });
                          }),
              1);
    ASSERT_TRUE(stack);
    EXPECT_EQ(stack->fidelity.mean, whole_stack.fidelity.mean);
    EXPECT_EQ(stack->weakest, whole_stack.weakest);
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t v = 0; v < 2; ++v) {
        const ValueOfHeads& one = whole.layer_values[l].values[v];
        const ValueOfHeads& other = shared.layer_values[l].values[v];
        EXPECT_EQ(other.all.mean, one.all.mean);
        EXPECT_EQ(other.smallest.heads, one.smallest.heads);
        EXPECT_EQ(other.weights->weights, one.weights->weights);
        for (std::size_t k = 0; k < one.pruning.best.size(); ++k)
          EXPECT_EQ(other.pruning.best[k].value, one.pruning.best[k].value);
        for (std::size_t h = 0; h < 4; ++h) {
          EXPECT_EQ(other.heads[h].shapley.mean, one.heads[h].shapley.mean);
          EXPECT_EQ(other.heads[h].shapley.error, one.heads[h].shapley.error);
        }
      }
  }
}

}  // namespace
}  // namespace synergraph
