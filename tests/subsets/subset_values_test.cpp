#include "synergraph/subsets/subset_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "synergraph/core/error.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/subsets/subset.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing_support::random_attention;
using testing_support::random_weights;
using testing_support::System;

constexpr double kTolerance = 1e-12;  // relative: twice what two ways to the same number may differ

MetricsOptions per_head() {
  MetricsOptions options = convention_options(Convention::kExact);
  options.normalization = Normalization::kPerHead;
  return options;
}

/// Every convention that there is.
std::vector<MetricsOptions> conventions() {
  return {convention_options(Convention::kExact), convention_options(Convention::kPublished),
          per_head()};
}

SubsetValues table_of(const System& system, SubsetOptions options = {}) {
  HeadList heads(system.heads);
  return subset_values(heads, system.weights, options);
}

/// The value of a subset by measuring its heads alone.
SubsetValue measured(const System& system, Subset subset, const MetricsOptions& convention) {
  System part;
  for (const int h : heads_in(subset)) {
    part.heads.push_back(system.heads[static_cast<std::size_t>(h)]);
    part.weights.push_back(system.weights[static_cast<std::size_t>(h)]);
  }
  if (std::all_of(part.weights.begin(), part.weights.end(), [](double w) { return w == 0.0; }))
    return {};
  const Metrics metrics = measure_heads(part.heads, part.weights, convention).combined;
  return {metrics.fidelity.minimax, metrics.fidelity.minimax_upper,
          1.0 - metrics.walk.truncated.mean / static_cast<double>(convention.walk.cutoff)};
}

void expect_close(double actual, double expected, const std::string& what) {
  EXPECT_NEAR(actual, expected, kTolerance * std::abs(expected)) << what;
}

/// The table, and values asked for one by one, say what measuring every subset alone says.
void expect_measured(const System& system, const MetricsOptions& convention,
                     const std::string& what) {
  const SubsetValues table = table_of(system, {.convention = convention});
  HeadList list(system.heads);
  const HeadSubsets subsets(list, system.weights, {.convention = convention});
  const auto count = static_cast<int>(system.heads.size());
  ASSERT_EQ(table.heads, count);
  ASSERT_EQ(table.fidelity.size(), std::size_t{1} << static_cast<unsigned>(count));
  ASSERT_EQ(table.speed.size(), table.fidelity.size());
  EXPECT_EQ(table.fidelity[0], 0.0);
  EXPECT_EQ(table.speed[0], 0.0);
  for (Subset subset = 1; subset <= all_heads(count); ++subset) {
    const std::string name = what + ", subset " + std::to_string(subset);
    const SubsetValue expected = measured(system, subset, convention);
    ASSERT_EQ(expected.fidelity, expected.fidelity_upper) << name;
    expect_close(table.fidelity[subset], expected.fidelity, name + ", fidelity");
    expect_close(table.speed[subset], expected.speed, name + ", speed");
    const SubsetValue value = subsets.value(heads_in(subset));
    EXPECT_EQ(value.fidelity, table.fidelity[subset]) << name;
    EXPECT_EQ(value.speed, table.speed[subset]) << name;
  }
  EXPECT_EQ(table.fidelity_gap, 0.0);
  EXPECT_EQ(table.uncertified, 0U);
}

/// Attention with rows in proportion to given entries.
template <class Entry>
Matrix attention_of(int nodes, Entry entry) {
  Matrix attention(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    double sum = 0.0;
    for (int j = 0; j <= i; ++j) sum += attention(i, j) = entry(i, j);
    for (int j = 0; j <= i; ++j) attention(i, j) /= sum;
  }
  return attention;
}

System system_of(std::vector<Matrix> heads, std::vector<double> weights) {
  System system{{}, std::move(weights)};
  for (Matrix& head : heads) system.heads.push_back(head_of_attention("", std::move(head)));
  return system;
}

System random_system(int nodes, int heads, double sharpness, std::uint32_t index) {
  RandomSequence draws(71, Purpose::kTest, index);
  std::vector<Matrix> matrices;
  for (int h = 0; h < heads; ++h) matrices.push_back(random_attention(nodes, sharpness, draws));
  return system_of(std::move(matrices), random_weights(static_cast<std::size_t>(heads), draws));
}

TEST(SubsetValues, AgreeWithTheReference) {
  const std::string folder = std::string(SYNERGRAPH_TEST_DATA) + "/subsets/";
  std::ifstream file(folder + "expected.json");
  const json expected = json::parse(file);
  const auto tensors = TensorFile::open(folder + "heads.npy");
  const std::vector<double> values = tensors.tensors().at(0).values<double>();
  const AttentionView view = attention_view(values.data(), 2, 5, 20);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto weights = expected["weights"][layer].get<std::vector<double>>();
    const SubsetValues table = subset_values(view, static_cast<std::int64_t>(layer), weights);
    const json& of_layer = expected["layers"][layer];
    for (std::size_t subset = 0; subset < table.fidelity.size(); ++subset) {
      expect_close(table.fidelity[subset], of_layer["fidelity_values"][subset], "fidelity");
      expect_close(table.speed[subset], of_layer["speed_values"][subset], "speed");
    }
  }
}

TEST(SubsetValues, AreThoseOfTheHeadsAlone) {
  for (std::uint32_t index = 0; index < 60; ++index) {
    const int nodes = 1 + static_cast<int>(index * 7 % 40);
    const System system = random_system(nodes, 1 + static_cast<int>(index % 4),
                                        0.1 * static_cast<double>(index), index);
    for (const MetricsOptions& convention : conventions())
      expect_measured(system, convention, "system " + std::to_string(index));
  }
}

TEST(SubsetValues, OfGraphsWalkAlongTheirEdges) {
  for (std::uint32_t index = 0; index < 60; ++index) {
    const System system = testing_support::random_graph_system(index);
    for (const Convention convention : {Convention::kExact, Convention::kPublished})
      expect_measured(system, graph_options(convention), "graphs " + std::to_string(index));
    expect_measured(system, convention_options(Convention::kExact),
                    "pooled graphs " + std::to_string(index));
  }
}

TEST(SubsetValues, OfExtremeHeadsLoseNoDigits) {
  constexpr int kNodes = 24;
  RandomSequence draws(72, Purpose::kTest);
  const Matrix softmax = random_attention(kNodes, 1.0, draws);
  const Matrix tiny = attention_of(kNodes, [](int i, int j) { return (i + j) % 3 ? 1e-20 : 1.0; });
  const Matrix never = attention_of(  // nobody but the sink itself attends to the last ten
      kNodes, [](int i, int j) { return i == j || j < kNodes - 10 ? 1.0 : 0.0; });
  const Matrix isolated = attention_of(
      kNodes, [](int i, int j) { return (i == 5) != (j == 5) ? 0.0 : 1.0 + i * j % 7; });
  const Matrix loops = attention_of(kNodes, [](int i, int j) { return i == j ? 1.0 : 0.0; });
  const Matrix slow = attention_of(kNodes, [](int i, int j) { return i == j ? 1.0 : 1e-9; });
  const Matrix previous = attention_of(kNodes, [](int i, int j) { return j + 1 == i || i == 0; });
  const std::vector<System> systems = {
      system_of({softmax, tiny, softmax, tiny}, {0.0, 1.0, 0.5, 0.0}),
      system_of({softmax, tiny, previous}, {1.0, 1e-300, 1e-310}),
      system_of({tiny, slow, previous, softmax}, {1.0, 1e-30, 3.0, 1e-18}),
      system_of({never, loops, softmax}, {1.0, 2.0, 1e-6}),
      system_of({isolated, never, tiny}, {0.3, 0.1, 0.2}),
      system_of({loops, loops, previous}, {1.0, 1.0, 1e-12}),
      system_of({softmax, softmax, softmax, slow}, {0.1, 0.2, 0.3, 0.4}),
      system_of({slow, previous}, {1.0 - 1e-9, 1e-9}),
      system_of({softmax, slow}, {1e200, 1e200}),
  };
  for (std::size_t s = 0; s < systems.size(); ++s)
    for (const MetricsOptions& convention : conventions())
      expect_measured(systems[s], convention, "system " + std::to_string(s));
}

TEST(SubsetValues, HoldForOtherCutoffsAndHorizons) {
  const System system = random_system(17, 3, 4.0, 900);
  for (const std::int64_t cutoff : {1, 7, 16, 41, 5000})
    for (const std::int64_t horizon : {0, 1, 8, 9, 150, 1000}) {
      MetricsOptions convention = per_head();
      convention.walk.cutoff = cutoff;
      convention.fidelity.horizon = horizon;
      expect_measured(system, convention, std::to_string(cutoff) + ", " + std::to_string(horizon));
      convention.normalization = Normalization::kPooled;
      convention.fidelity.nodes = FidelityNodes::kAll;
      expect_measured(system, convention, std::to_string(cutoff) + ", " + std::to_string(horizon));
    }
}

TEST(SubsetValues, OfCopiesAreThoseOfTheHead) {
  System system = random_system(30, 1, 1.0, 901);
  system.heads.resize(4, system.heads.front());
  system.weights = {0.1, 0.2, 0.3, 0.7};
  const SubsetValues table = table_of(system);
  for (Subset subset = 1; subset <= all_heads(4); ++subset) {
    EXPECT_NEAR(table.fidelity[subset], table.fidelity[1], 1e-14 * table.fidelity[1]);
    EXPECT_NEAR(table.speed[subset], table.speed[1], 1e-14);
  }
}

void expect_same_bytes(const SubsetValues& a, const SubsetValues& b) {
  const auto bits = [](const std::vector<double>& values) {
    std::vector<std::uint64_t> patterns;
    for (const double value : values) patterns.push_back(std::bit_cast<std::uint64_t>(value));
    return patterns;
  };
  EXPECT_EQ(bits(a.fidelity), bits(b.fidelity));
  EXPECT_EQ(bits(a.speed), bits(b.speed));
  EXPECT_EQ(a.fidelity_gap, b.fidelity_gap);
  EXPECT_EQ(a.uncertified, b.uncertified);
}

TEST(SubsetValues, AreTheSameBytesForAnyThreadsAndMemory) {
  for (const MetricsOptions& convention : conventions()) {
    const System system = random_system(33, 9, 2.0, 902);
    const SubsetValues one =
        table_of(system, {.convention = convention, .execution = {.threads = 1}});
    for (const int threads : {2, 4, 7})
      expect_same_bytes(
          one, table_of(system, {.convention = convention, .execution = {.threads = threads}}));
    constexpr std::size_t kSum = (33 + 3) * 40 * sizeof(double);
    for (const std::size_t sums : {1U, 5U, 9U, 40U})
      expect_same_bytes(one,
                        table_of(system, {.convention = convention,
                                          .execution = {.threads = 2, .memory = 2 * sums * kSum}}));
  }
}

TEST(SubsetValues, AreMeasuredIfTheyAreAskedFor) {
  const System system = random_system(20, 3, 1.0, 903);
  for (const MetricsOptions& convention : conventions()) {
    const SubsetValues both = table_of(system, {.convention = convention});
    const SubsetValues fidelity = table_of(system, {.convention = convention, .speed = false});
    EXPECT_EQ(fidelity.fidelity, both.fidelity);
    EXPECT_TRUE(fidelity.speed.empty());
    const SubsetValues speed = table_of(system, {.convention = convention, .fidelity = false});
    EXPECT_EQ(speed.speed, both.speed);
    EXPECT_TRUE(speed.fidelity.empty());
  }
}

// Where no time may be looked at beyond a few steps, fidelities are intervals.
TEST(SubsetValues, KnowHowFarUncertifiedFidelitiesMayBeOff) {
  System system = random_system(30, 4, 1.0, 904);
  for (int h = 0; h < 3; ++h)  // slow ones, and a quick one
    system.heads[static_cast<std::size_t>(h)].diffusion =
        attention_of(30, [&](int i, int j) { return i == j ? 1.0 : 1e-6 * (i + j + h); });
  MetricsOptions convention = convention_options(Convention::kExact);
  convention.fidelity.step_limit = 50;
  const SubsetValues table = table_of(system, {.convention = convention});
  double gap = 0.0;
  std::uint64_t uncertified = 0;
  for (Subset subset = 1; subset <= all_heads(4); ++subset) {
    const SubsetValue expected = measured(system, subset, convention);
    expect_close(table.fidelity[subset], expected.fidelity, std::to_string(subset));
    gap = std::max(gap, expected.fidelity_upper - expected.fidelity);
    if (expected.fidelity_upper > expected.fidelity) ++uncertified;
  }
  EXPECT_GT(uncertified, 0U);
  EXPECT_LT(uncertified, 15U);
  EXPECT_EQ(table.fidelity_gap, gap);
  EXPECT_EQ(table.uncertified, uncertified);
}

TEST(SubsetValues, OfAnOrdersPrefixesAreThoseOfTheSubsets) {
  for (const MetricsOptions& convention : conventions()) {
    const System system = random_system(26, 6, 2.0, 905);
    HeadList list(system.heads);
    const HeadSubsets subsets(list, system.weights, {.convention = convention});
    EXPECT_EQ(subsets.heads(), 6);
    const std::vector<int> order = {4, 0, 5, 2, 1, 3};
    const std::vector<SubsetValue> values = subsets.prefix_values(order);
    const SubsetValues table = table_of(system, {.convention = convention});
    ASSERT_EQ(values.size(), 7U);
    const std::vector<SubsetValue> some = subsets.prefix_values(order, 1, 2);
    ASSERT_EQ(some.size(), 3U);
    for (std::size_t k = 0; k < some.size(); ++k)
      EXPECT_EQ(some[k].fidelity, values[1 + 2 * k].fidelity);
    Subset subset = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      expect_close(values[k].fidelity, table.fidelity[subset], "fidelity");
      expect_close(values[k].speed, table.speed[subset], "speed");
      if (k < order.size()) subset |= Subset{1} << static_cast<unsigned>(order[k]);
    }
  }
}

// More heads than a table has: the order in which they are added up changes nothing but roundings.
TEST(SubsetValues, OfManyHeadsAreToBeHadOneByOne) {
  const System system = random_system(12, 70, 2.0, 906);
  HeadList list(system.heads);
  const HeadSubsets subsets(list, system.weights);
  std::vector<int> order(70);
  std::iota(order.begin(), order.end(), 0);
  const SubsetValue all = subsets.value(order);
  const Metrics expected =
      measure_heads(system.heads, system.weights, convention_options(Convention::kExact)).combined;
  expect_close(all.fidelity, expected.fidelity.minimax, "fidelity");
  expect_close(all.speed, 1.0 - expected.walk.truncated.mean / 100.0, "speed");
  EXPECT_EQ(subsets.prefix_values(order).back().fidelity, all.fidelity);
}

/// Random attention [samples][heads][n][n] rounded to an element type.
template <class Stored, class Round>
std::vector<Stored> rounded_attention(int samples, int heads, int nodes, Round round) {
  RandomSequence draws(73, Purpose::kTest);
  std::vector<Stored> values;
  for (int k = 0; k < samples * heads; ++k) {
    const Matrix head = random_attention(nodes, 1.0, draws);
    for (int i = 0; i < nodes; ++i)
      for (int j = 0; j < nodes; ++j) values.push_back(round(head(i, j)));
  }
  return values;
}

/// A view's tables say of single heads and of all what its measurement says.
void expect_measured(const AttentionView& view) {
  const std::vector<double> weights = {3.0, 1.0, 2.0};
  for (const MetricsOptions& convention : conventions()) {
    const BatchMetrics batch = measure(view, weights, {.conventions = {convention}});
    for (std::int64_t sample = 0; sample < view.samples; ++sample) {
      const SubsetValues table = subset_values(view, sample, weights, {.convention = convention});
      const HeadsMetrics& all = batch.sequences[0][static_cast<std::size_t>(sample)];
      const auto expect = [&](Subset subset, const Metrics& metrics) {
        expect_close(table.fidelity[subset], metrics.fidelity.minimax, "fidelity");
        expect_close(table.speed[subset], 1.0 - metrics.walk.truncated.mean / 100.0, "speed");
      };
      for (unsigned h = 0; h < 3; ++h) expect(Subset{1} << h, all.heads[h]);
      expect(all_heads(3), all.combined);
    }
  }
}

TEST(SubsetValues, OfViewsOfEveryType) {
  const auto half = rounded_attention<std::uint16_t>(2, 3, 9, [](double value) {
    std::uint16_t bits = 0;
    while (half_to_float(bits) < value) ++bits;
    return bits;
  });
  const auto single =
      rounded_attention<float>(2, 3, 21, [](double value) { return static_cast<float>(value); });
  const auto whole = rounded_attention<double>(2, 3, 21, [](double value) { return value; });
  std::vector<std::uint16_t> bfloat;
  for (const float value : single)
    bfloat.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
  expect_measured(attention_view(half.data(), FloatType::kFloat16, 2, 3, 9));
  expect_measured(attention_view(bfloat.data(), FloatType::kBFloat16, 2, 3, 21));
  expect_measured(attention_view(single.data(), 2, 3, 21));
  expect_measured(attention_view(whole.data(), 2, 3, 21));
  // Without weights: equal ones.
  const AttentionView view = attention_view(whole.data(), 2, 3, 21);
  EXPECT_EQ(subset_values(view, 1, {}).fidelity,
            subset_values(view, 1, std::vector<double>(3, 1.0)).fidelity);
}

TEST(SubsetValues, StopAndTellHowFarTheyAre) {
  const System system = random_system(20, 8, 1.0, 907);
  std::atomic<int> asked = 0;
  SubsetOptions options;
  options.execution = {.threads = 2, .stop = [&] { return ++asked > 100; }};
  EXPECT_THROW(table_of(system, options), Stopped);
  HeadList list(system.heads);
  const HeadSubsets subsets(list, system.weights, options);
  EXPECT_THROW(subsets.prefix_values(std::vector<int>{1, 2}), Stopped);

  std::vector<std::uint64_t> done;
  options.execution.stop = {};
  options.subsets_done = [&](std::uint64_t count) { done.push_back(count); };
  table_of(system, options);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 256U);
}

template <class Call>
void expect_error(const Call& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown instead of: " << message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
  }
}

TEST(SubsetValues, RefuseWhatCannotBeMeasured) {
  System system = random_system(4, 21, 1.0, 908);
  expect_error([&] { table_of(system); }, "21 heads: all subsets of at most 20 can be measured");
  system.heads.resize(3);
  expect_error([&] { table_of(system); }, "21 weights for 3 heads");
  for (const double wrong :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    system.weights = {1.0, wrong, 1.0};
    expect_error([&] { table_of(system); }, "not finite and non-negative");
  }
  system.weights = {0.0, 0.0, 0.0};
  expect_error([&] { table_of(system); }, "all head weights are zero");
  system.weights = {1.0, 1.0, 1.0};
  expect_error([&] { table_of(system, {.fidelity = false, .speed = false}); }, "asked for");
  SubsetOptions options;
  options.convention.walk.cutoff = 0;
  expect_error([&] { table_of(system, options); }, "cutoff 0");
  HeadList list(system.heads);
  const HeadSubsets subsets(list, system.weights);
  expect_error([&] { subsets.value(std::vector<int>{3}); }, "head 3 was asked for, there are 0:3");
  expect_error(
      [&] {
        subsets.prefix_values(std::vector<int>{1, 1});
      },
      "head 1 was asked for twice");

  std::vector<double> values(2 * 4, 0.5);
  values[1] = values[5] = 0.0;
  values[0] = values[4] = 1.0;
  const AttentionView view = attention_view(values.data(), 1, 2, 2);
  EXPECT_EQ(subset_values(view, 0, {}).heads, 2);
  expect_error([&] { subset_values(view, 1, {}); }, "sample 1 was asked for, there are 0:1");
  values[6] = 0.7;
  expect_error([&] { subset_values(view, 0, {}); }, "sample 0, head 1");
}

}  // namespace
}  // namespace synergraph
