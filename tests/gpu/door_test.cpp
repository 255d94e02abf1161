// From a source of attention through the library that is loaded to a GPU, against the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/device/measure_on_device.h"
#include "synergraph/heads/view_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using Results = std::map<std::pair<int, int>, HeadsMetrics>;

class Door : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = choose_measuring_device("cuda", std::numeric_limits<double>::infinity());
    } catch (const InputError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static Results measured(const MeasuringDevice& device, AttentionSource& source, MeasuredOn* on) {
    MeasureOptions options;
    options.conventions = {convention_options(Convention::kExact)};
    options.conventions.front().per_head_walks = true;
    Results results;
    std::mutex mutex;
    const MeasuredOn found = measure_systems_on(
        device, source, {{0, source.most_samples()}},
        [&](int layer, int) {
          const auto heads =
              static_cast<std::size_t>(source.layers()[static_cast<std::size_t>(layer)].heads);
          return std::vector<double>(heads, 1.0 / static_cast<double>(heads));
        },
        options,
        [&](int layer, int sample, std::vector<HeadsMetrics> by_convention) {
          const std::lock_guard lock(mutex);
          results[{layer, sample}] = std::move(by_convention.front());
        });
    if (on != nullptr) *on = found;
    return results;
  }

  void expect_same(AttentionSource& source, double tolerance) const {
    MeasuredOn on;
    const Results results = measured(device_, source, &on);
    EXPECT_GT(on.on_device, 0U);
    EXPECT_EQ(on.on_cpu, 0U);
    EXPECT_THAT(on.text(device_), testing::StartsWith("cuda ("));
    for (const auto& [place, expected] : measured({}, source, nullptr)) {
      const Metrics& one = results.at(place).combined;
      const Metrics& other = expected.combined;
      EXPECT_EQ(one.walk.mixing, other.walk.mixing);
      EXPECT_NEAR(one.walk.hitting.max, other.walk.hitting.max, tolerance * other.walk.hitting.max);
      EXPECT_NEAR(one.fidelity.minimax, other.fidelity.minimax, tolerance * other.fidelity.minimax);
      ASSERT_EQ(results.at(place).heads.size(), expected.heads.size());
    }
  }

  MeasuringDevice device_;
};

std::vector<double> random_array(int samples, int heads, int tokens) {
  RandomSequence draws(11, Purpose::kTest, static_cast<std::uint32_t>(tokens));
  std::vector<double> values;
  for (int k = 0; k < samples * heads; ++k) {
    const Matrix head = testing_support::random_attention(tokens, 1.0, draws);
    for (int i = 0; i < tokens; ++i) values.insert(values.end(), head.row(i), head.row(i) + tokens);
  }
  return values;
}

TEST_F(Door, MeasuresArraysOfTheCpu) {
  for (const int tokens : {40, 300}) {
    const std::vector<double> values = random_array(3, 4, tokens);
    ViewSource source;
    source.add("0", attention_view(values.data(), 3, 4, tokens));
    expect_same(source, 1e-12);
  }
}

TEST_F(Door, MeasuresArraysOfTheDevice) {
  const std::vector<double> values = random_array(2, 3, 300);
  const std::size_t bytes = values.size() * sizeof(double);
  const DevicePlace place{device_.indices.front()};
  void* memory = device_.backend->allocate(bytes, place);
  device_.backend->copy(memory, values.data(), bytes, place);
  std::vector<double> back(values.size());
  device_.backend->copy(back.data(), memory, bytes, place);
  EXPECT_EQ(back, values);
  const AttentionView there = attention_view(static_cast<const double*>(memory), 2, 3, 300);
  ViewSource source;
  source.add_on_device(
      "0", there,
      [&](std::int64_t sample, std::int64_t head, void* into) {
        std::memcpy(into, values.data() + (sample * 3 + head) * 300 * 300,
                    300 * 300 * sizeof(double));
      },
      place);
  expect_same(source, 1e-12);
  device_.backend->release(memory, place);
}

TEST_F(Door, MeasuresQueriesAndKeysOfTheCpu) {
  constexpr int kHeads = 4;
  constexpr int kTokens = 300;
  constexpr int kWidth = 64;
  RandomSequence draws(12, Purpose::kTest, 0);
  std::vector<float> queries;
  std::vector<float> keys;
  for (int k = 0; k < 2 * kHeads * kTokens * kWidth; ++k)
    queries.push_back(static_cast<float>(draws.normal()));
  for (int k = 0; k < kHeads * kTokens * kWidth; ++k)
    keys.push_back(static_cast<float>(draws.normal()));
  QueryKeyView view;
  view.queries = queries.data();
  view.keys = keys.data();
  view.type = FloatType::kFloat32;
  view.samples = 2;
  view.heads = kHeads;
  view.key_heads = kHeads / 2;
  view.tokens = kTokens;
  view.width = kWidth;
  constexpr std::ptrdiff_t kRow = kWidth * sizeof(float);
  view.query_strides = {kRow * kTokens * kHeads, kRow * kTokens, kRow};
  view.key_strides = {kRow * kTokens * kHeads / 2, kRow * kTokens, kRow};
  view.scale = 1.0 / 8;
  ViewSource source;
  source.add_scores("0", view);
  expect_same(source, 1e-4);  // products are made in shorter types there
}

TEST_F(Door, RefusesADeviceThatIsNotThere) {
  EXPECT_THROW(choose_measuring_device("cuda:99", 1.0), InputError);
}

}  // namespace
}  // namespace synergraph
