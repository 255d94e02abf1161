#include "synergraph/device/small/systems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "synergraph/core/error.h"
#include "synergraph/device/small/measure_batch.h"
#include "tests/support/small_systems.h"

// The code that threads of a GPU run for small systems, run by one thread of the host.

namespace synergraph::small {
namespace {

using testing_support::expect_batch;
using testing_support::nasty_batches;
using testing_support::random_batch;
using testing_support::SmallBatch;

BatchOptions options_of(std::vector<MetricsOptions> conventions) {
  BatchOptions options;
  options.conventions = std::move(conventions);
  return options;
}

MetricsOptions per_head() {
  MetricsOptions options;
  options.normalization = Normalization::kPerHead;
  options.walk.eps = {0.25, 0.5, 1e-6};
  return options;
}

void expect_as_on_the_cpu(const AttentionView& view, const std::vector<double>& weights,
                          const BatchOptions& options, const std::string& what) {
  HostRunner runner;
  expect_batch(measure_batch(runner, view, weights, options), measure(view, weights, options),
               what);
}

/// How many of the sequences are decided without the CPU's engine.
std::size_t decided(const SmallBatch& batch, const BatchOptions& options) {
  HostRunner runner;
  std::vector<TokenSpan> sequences;
  for (int s = 0; s < batch.samples; ++s) sequences.push_back({s, 0, batch.tokens});
  const std::vector<double> weights(static_cast<std::size_t>(batch.samples * batch.heads),
                                    1.0 / batch.heads);
  const auto measured =
      measure_sequences(runner, attention_of(batch.view(), options), sequences, weights, options);
  return static_cast<std::size_t>(std::count_if(
      measured.begin(), measured.end(), [](const auto& system) { return system.has_value(); }));
}

TEST(SmallSystems, AreAsOnTheCpuForAllSizes) {
  for (int tokens = 1; tokens <= kMostNodes; ++tokens) {
    const SmallBatch batch = random_batch(1, 1 + tokens % 4, tokens, static_cast<unsigned>(tokens));
    expect_as_on_the_cpu(batch.view(), {}, {}, std::to_string(tokens) + " tokens");
  }
}

TEST(SmallSystems, AreAsOnTheCpuUnderEveryConvention) {
  const MetricsOptions exact = convention_options(Convention::kExact);
  const MetricsOptions published = convention_options(Convention::kPublished);
  const std::vector<std::vector<MetricsOptions>> lists = {
      {exact}, {published}, {per_head()}, {exact, published}, {published, per_head()}};
  for (std::size_t k = 0; k < lists.size(); ++k)
    for (const int heads : {1, 2, 5}) {
      std::vector<MetricsOptions> conventions = lists[k];
      const SmallBatch batch = random_batch(2, heads, 37, static_cast<unsigned>(k), 1.5);
      const std::string what =
          "list " + std::to_string(k) + ", " + std::to_string(heads) + " heads";
      expect_as_on_the_cpu(batch.view(), {}, options_of(conventions), what);
      for (MetricsOptions& each : conventions) each.per_head_walks = false;
      expect_as_on_the_cpu(batch.view(), {}, options_of(conventions), what + ", without walks");
    }
}

TEST(SmallSystems, AreAsOnTheCpuForNastyInputs) {
  const auto both = options_of(
      {convention_options(Convention::kExact), convention_options(Convention::kPublished)});
  for (const auto& [name, batch] : nasty_batches()) {
    expect_as_on_the_cpu(batch.view(), {}, {}, name);
    expect_as_on_the_cpu(batch.view(), {}, both, name + ", both conventions");
  }
}

TEST(SmallSystems, TakeWeightsAndPartsOfSamples) {
  SmallBatch batch = random_batch(3, 3, 40, 5);
  std::vector<double> weights = {0.2, 0.3, 0.5, 0.0, 1.0, 3.0, 5.0, 0.0, 0.0};
  BatchOptions options;
  options.sequences = {{0, 0, 40}, {1, 0, 17}, {2, 0, 33}, {1, 0, 2}};
  expect_as_on_the_cpu(batch.view(), weights, options, "spans");
  // Padding before a sequence may hold anything.
  for (int h = 0; h < 3; ++h)
    for (int i = 12; i < 40; ++i) std::fill_n(batch.row(0, h, i), 3, std::nan(""));
  options.row_tolerance = 0.999;
  options.sequences = {{0, 12, 40}, {0, 12, 30}};
  expect_as_on_the_cpu(batch.view(), weights, options, "padding");
}

TEST(SmallSystems, TakeEveryElementType) {
  const SmallBatch batch = random_batch(2, 2, 30, 9);
  std::vector<float> single(batch.data.begin(), batch.data.end());
  expect_as_on_the_cpu(attention_view(single.data(), 2, 2, 30), {}, {}, "float32");
}

TEST(SmallSystems, AreFetchedWhereTheCpuDoesNotReachThem) {
  const auto [name, batch] = nasty_batches()[2];
  ASSERT_EQ(name, "slow heads");
  HostRunner runner;
  BatchOptions options;
  options.conventions.front().walk.eps = {0.75};  // for the CPU
  std::atomic<int> fetched = 0;
  const auto fetch = [&, &of = batch](std::int64_t sample, std::int64_t head, void* into) {
    ++fetched;
    const std::size_t count =
        of.data.size() / static_cast<std::size_t>(of.samples) / static_cast<std::size_t>(of.heads);
    std::memcpy(into, of.data.data() + static_cast<std::size_t>(sample * of.heads + head) * count,
                count * sizeof(double));
  };
  expect_batch(measure_batch(runner, batch.view(), {}, options, fetch),
               measure(batch.view(), {}, options), "fetched");
  EXPECT_GE(fetched, batch.samples * batch.heads);
}

TEST(SmallSystems, AreRefusedAsOnTheCpu) {
  SmallBatch batch = random_batch(3, 2, 20, 1);
  const auto message = [](const auto& measure_it) {
    try {
      measure_it();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto expect_same_refusal = [&](const std::vector<double>& weights) {
    HostRunner runner;
    const std::string expected = message([&] { measure(batch.view(), weights); });
    EXPECT_NE(expected, "no error");
    EXPECT_EQ(message([&] { measure_batch(runner, batch.view(), weights, {}); }), expected);
  };
  expect_same_refusal({1.0, 2.0, 3.0});
  std::fill_n(batch.row(1, 1, 7), 20, 0.0);
  expect_same_refusal({});
  batch.row(1, 0, 3)[2] = -0.25;
  expect_same_refusal({});
  batch.row(1, 0, 3)[2] = std::nan("");
  expect_same_refusal({});
  batch.row(0, 0, 3)[12] = 0.5;
  expect_same_refusal({});
}

TEST(SmallSystems, AreMostlyDecidedBySingleSteps) {
  const auto both = options_of(
      {convention_options(Convention::kExact), convention_options(Convention::kPublished)});
  for (const double sharpness : {0.0, 1.0, 2.0, 3.0})
    for (const int heads : {1, 4, 16})
      EXPECT_EQ(decided(random_batch(8, heads, 100, 3, sharpness), both), 8U)
          << heads << " heads, sharpness " << sharpness;
}

TEST(SmallSystems, DoNotDependOnEachOther) {
  const SmallBatch batch = random_batch(5, 3, 60, 8);
  BatchOptions options;
  HostRunner runner;
  const BatchMetrics all = measure_batch(runner, batch.view(), {}, options);
  options.sequences = {{3, 0, 60}};
  const BatchMetrics one = measure_batch(runner, batch.view(), {}, options);
  EXPECT_EQ(all.sequences[0][3].combined.fidelity.minimax,
            one.sequences[0][0].combined.fidelity.minimax);
  EXPECT_EQ(all.sequences[0][3].heads[1].walk.truncated.mean,
            one.sequences[0][0].heads[1].walk.truncated.mean);
}

TEST(SmallSystems, AreMeasuredInPieces) {
  const SmallBatch batch = random_batch(3000, 2, 5, 9);
  BatchOptions options;
  HostRunner runner;
  options.execution.threads = 1;
  const BatchMetrics whole = measure_batch(runner, batch.view(), {}, options);
  options.execution.threads = 3;
  const BatchMetrics pieces = measure_batch(runner, batch.view(), {}, options);
  ASSERT_EQ(pieces.sequences[0].size(), 3000U);
  expect_batch(pieces, whole, "pieces");
}

TEST(SmallSystems, NameWhatIsLeftToTheCpu) {
  EXPECT_EQ(refusal({}), "");
  BatchOptions options;
  options.nodes = true;
  EXPECT_EQ(refusal(options), "numbers of every node");
  options = {};
  options.conventions.front().walk.eps = {0.9};
  EXPECT_NE(refusal(options), "");
  const SmallBatch batch = random_batch(2, 2, 12, 4);
  expect_as_on_the_cpu(batch.view(), {}, options, "eps above one half");
}

}  // namespace
}  // namespace synergraph::small
