#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/small_systems.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/device/small/systems.h"
#include "tests/support/small_systems.h"

// Small systems on a GPU against the CPU. The same cases run without a GPU in tests/device.

namespace synergraph::cuda {
namespace {

using testing_support::expect_batch;
using testing_support::expect_subsets;
using testing_support::nasty_batches;
using testing_support::random_batch;
using testing_support::SmallBatch;

class SmallMetrics : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
      GTEST_SKIP() << "no GPU on this machine";
    stream_ = std::make_unique<Stream>();
    systems_ = std::make_unique<SmallSystems>(*stream_);
  }
  void expect_as_on_the_cpu(const AttentionView& view, const std::vector<double>& weights,
                            const BatchOptions& options, const std::string& what) {
    expect_batch(systems_->measure(view, weights, options),
                 synergraph::measure(view, weights, options), what);
  }
  static BatchOptions both() {
    BatchOptions options;
    options.conventions = {convention_options(Convention::kExact),
                           convention_options(Convention::kPublished)};
    return options;
  }

  std::unique_ptr<Stream> stream_;
  std::unique_ptr<SmallSystems> systems_;
};

TEST_F(SmallMetrics, AreAsOnTheCpuForAllSizes) {
  for (int tokens = 1; tokens <= small::kMostNodes; ++tokens) {
    const SmallBatch batch = random_batch(3, 1 + tokens % 4, tokens, static_cast<unsigned>(tokens));
    const std::string what = std::to_string(tokens) + " tokens";
    expect_as_on_the_cpu(batch.view(), {}, {}, what);
    if (tokens % 3 == 0) expect_as_on_the_cpu(batch.view(), {}, both(), what + ", both");
  }
}

TEST_F(SmallMetrics, AreAsOnTheCpuForNastyInputs) {
  MetricsOptions per_head;
  per_head.normalization = Normalization::kPerHead;
  per_head.walk.eps = {0.25, 0.5, 1e-6};
  BatchOptions sums;
  sums.conventions = {per_head};
  for (const auto& [name, batch] : nasty_batches()) {
    expect_as_on_the_cpu(batch.view(), {}, {}, name);
    expect_as_on_the_cpu(batch.view(), {}, both(), name + ", both conventions");
    expect_as_on_the_cpu(batch.view(), {}, sums, name + ", sums of walks");
  }
}

TEST_F(SmallMetrics, AreDecidedOnTheDevice) {
  for (const int heads : {1, 4, 16}) {
    const SmallBatch batch = random_batch(16, heads, 100, 3, 1.0);
    DeviceMemory<double> data(batch.data.size());
    data.upload(batch.data.data(), batch.data.size(), *stream_);
    std::vector<TokenSpan> sequences;
    for (int s = 0; s < batch.samples; ++s) sequences.push_back({s, 0, batch.tokens});
    const std::vector<double> weights(static_cast<std::size_t>(16 * heads), 1.0 / heads);
    small::DeviceRunner runner(*stream_);
    AttentionView view = batch.view();
    view.data = data.data();
    for (const auto& system : small::measure_sequences(runner, small::attention_of(view, both()),
                                                       sequences, weights, both()))
      EXPECT_TRUE(system.has_value()) << heads << " heads";
  }
}

TEST_F(SmallMetrics, TakeEveryElementTypeWhereItLies) {
  const SmallBatch batch = random_batch(4, 3, 90, 9, 1.0);
  const std::vector<float> single(batch.data.begin(), batch.data.end());
  DeviceMemory<float> data(single.size());
  data.upload(single.data(), single.size(), *stream_);
  const AttentionView on_host = attention_view(single.data(), 4, 3, 90);
  const AttentionView on_device = attention_view(data.data(), 4, 3, 90);
  const BatchMetrics expected = synergraph::measure(on_host);
  expect_batch(systems_->measure(on_host, {}, {}), expected, "float32 on the host");
  expect_batch(systems_->measure(on_device, {}, {}), expected, "float32 on the device");
  // Short types: rows rounded to bfloat16, whose sums are within its tolerance.
  std::vector<std::uint16_t> shorter;
  for (const float x : single) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    shorter.push_back(static_cast<std::uint16_t>((bits + 0x8000U) >> 16U));
  }
  const AttentionView short_view = attention_view(shorter.data(), FloatType::kBFloat16, 4, 3, 90);
  expect_batch(systems_->measure(short_view, {}, {}), synergraph::measure(short_view), "bfloat16");
}

TEST_F(SmallMetrics, TakeWeightsAndPartsOfSamples) {
  SmallBatch batch = random_batch(3, 3, 40, 5);
  BatchOptions options;
  options.sequences = {{0, 0, 40}, {1, 0, 17}, {2, 0, 33}, {1, 0, 2}, {2, 0, 1}};
  expect_as_on_the_cpu(batch.view(), {0.2, 0.3, 0.5, 0.0, 1.0, 3.0, 5.0, 0.0, 0.0}, options,
                       "spans");
  for (int h = 0; h < 3; ++h)
    for (int i = 12; i < 40; ++i) std::fill_n(batch.row(0, h, i), 3, std::nan(""));
  options.row_tolerance = 0.999;
  options.sequences = {{0, 12, 40}, {0, 12, 30}};
  expect_as_on_the_cpu(batch.view(), {}, options, "padding");
}

TEST_F(SmallMetrics, AreRefusedAsOnTheCpu) {
  SmallBatch batch = random_batch(3, 2, 20, 1);
  const auto message = [](const auto& measure_it) {
    try {
      measure_it();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto expect_same_refusal = [&] {
    const std::string expected = message([&] { synergraph::measure(batch.view()); });
    EXPECT_NE(expected, "no error");
    EXPECT_EQ(message([&] { systems_->measure(batch.view(), {}, {}); }), expected);
  };
  std::fill_n(batch.row(1, 1, 7), 20, 0.0);
  expect_same_refusal();
  batch.row(1, 0, 3)[2] = -0.25;
  expect_same_refusal();
  batch.row(1, 0, 3)[2] = std::nan("");
  expect_same_refusal();
  batch.row(0, 0, 3)[12] = 0.5;
  expect_same_refusal();
}

void expect_bytes(double a, double b) {
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << a << " and " << b;
}

/// Every number of a sequence is the same whatever is measured beside it.
TEST_F(SmallMetrics, AreTheSameBytesInEveryBatch) {
  const SmallBatch batch = random_batch(40, 3, 100, 8, 1.0);
  BatchOptions options = both();
  const BatchMetrics all = systems_->measure(batch.view(), {}, options);
  for (const std::int64_t s : {0, 17, 39}) {
    // Alone, and beside sequences of other lengths.
    options.sequences = {{s, 0, 100}};
    const BatchMetrics one = systems_->measure(batch.view(), {}, options);
    options.sequences = {{1, 0, 9}, {2, 0, 128 - 30}, {s, 0, 100}, {3, 0, 60}};
    const BatchMetrics some = systems_->measure(batch.view(), {}, options);
    for (std::size_t c = 0; c < 2; ++c) {
      const HeadsMetrics& expected = all.sequences[c][static_cast<std::size_t>(s)];
      for (const HeadsMetrics* found : {&one.sequences[c][0], &some.sequences[c][2]}) {
        expect_bytes(found->cross_head_share, expected.cross_head_share);
        for (std::size_t h = 0; h <= 3; ++h) {
          const Metrics& a = h < 3 ? found->heads[h] : found->combined;
          const Metrics& b = h < 3 ? expected.heads[h] : expected.combined;
          expect_bytes(a.forward_probability, b.forward_probability);
          expect_bytes(a.walk.hitting.mean, b.walk.hitting.mean);
          expect_bytes(a.walk.hitting.max, b.walk.hitting.max);
          expect_bytes(a.walk.truncated.mean, b.walk.truncated.mean);
          expect_bytes(a.fidelity.minimax, b.fidelity.minimax);
          EXPECT_EQ(a.walk.mixing, b.walk.mixing);
          EXPECT_EQ(a.fidelity.steps, b.fidelity.steps);
        }
      }
    }
  }
}

TEST_F(SmallMetrics, OfSubsetsAreAsOnTheCpu) {
  SubsetOptions published;
  published.convention = convention_options(Convention::kPublished);
  for (const int heads : {1, 3, 8})
    for (const int tokens : {2, 33, 100, 128}) {
      const SmallBatch batch = random_batch(2, heads, tokens, static_cast<unsigned>(heads));
      const std::string what = std::to_string(heads) + " heads, " + std::to_string(tokens);
      for (const SubsetOptions& options : {SubsetOptions{}, published})
        expect_subsets(systems_->subset_values(batch.view(), 1, {}, options),
                       synergraph::subset_values(batch.view(), 1, {}, options), what);
    }
  for (const auto& [name, batch] : nasty_batches())
    expect_subsets(systems_->subset_values(batch.view(), 0, {}, {}),
                   synergraph::subset_values(batch.view(), 0, {}, {}), name);
}

}  // namespace
}  // namespace synergraph::cuda
