#include "synergraph/device/measure_on_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/device/subsets_on_device.h"
#include "synergraph/heads/view_source.h"
#include "tests/device/fake_backend.h"
#include "tests/heads/memory_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing_support::FakeBackend;
using testing_support::MemorySource;
using testing_support::random_attention;

using Results = std::map<std::pair<int, int>, std::vector<HeadsMetrics>>;

/// Random attention [samples][heads][n][n].
std::vector<double> random_array(int samples, int heads, int tokens) {
  RandomSequence draws(7, Purpose::kTest, static_cast<std::uint32_t>(tokens));
  std::vector<double> values;
  for (int k = 0; k < samples * heads; ++k) {
    const Matrix head = random_attention(tokens, 1.0, draws);
    for (int i = 0; i < tokens; ++i) values.insert(values.end(), head.row(i), head.row(i) + tokens);
  }
  return values;
}

MeasureOptions both_conventions() {
  MeasureOptions options;
  options.conventions = {convention_options(Convention::kExact),
                         convention_options(Convention::kPublished)};
  options.execution.threads = 3;
  return options;
}

std::vector<double> weights_of(AttentionSource& source, int layer) {
  const auto heads =
      static_cast<std::size_t>(source.layers()[static_cast<std::size_t>(layer)].heads);
  std::vector<double> weights;
  for (std::size_t h = 0; h < heads; ++h) weights.push_back(static_cast<double>(h + 1));
  return normalised_weights(weights, heads);
}

Results measured(AttentionSource& source, const MeasuringDevice& device, MeasuredOn* on = nullptr) {
  Results results;
  std::mutex mutex;
  const MeasuredOn found = measure_systems_on(
      device, source, {{0, source.most_samples()}},
      [&](int layer, int) { return weights_of(source, layer); }, both_conventions(),
      [&](int layer, int sample, std::vector<HeadsMetrics> by_convention) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(results.try_emplace({layer, sample}, std::move(by_convention)).second);
      });
  if (on != nullptr) *on = found;
  return results;
}

/// The same numbers, but for the rounding of rows that are normalised once more.
void expect_same(const Results& results, const Results& expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (const auto& [place, systems] : expected) {
    const std::vector<HeadsMetrics>& found = results.at(place);
    ASSERT_EQ(found.size(), systems.size());
    for (std::size_t c = 0; c < systems.size(); ++c) {
      const Metrics& one = found[c].combined;
      const Metrics& other = systems[c].combined;
      EXPECT_NEAR(one.fidelity.minimax, other.fidelity.minimax, 1e-12 * other.fidelity.minimax);
      EXPECT_EQ(one.walk.mixing, other.walk.mixing);
      EXPECT_NEAR(one.walk.truncated.max, other.walk.truncated.max,
                  1e-12 * other.walk.truncated.max);
      ASSERT_EQ(found[c].heads.size(), systems[c].heads.size());
      for (std::size_t h = 0; h < systems[c].heads.size(); ++h)
        EXPECT_NEAR(found[c].heads[h].fidelity.minimax, systems[c].heads[h].fidelity.minimax,
                    1e-12 * systems[c].heads[h].fidelity.minimax);
    }
  }
}

MeasuringDevice on(FakeBackend& backend, std::vector<int> indices = {0}, bool automatic = false) {
  return {&backend, std::move(indices), automatic};
}

TEST(MeasureOnDevice, GivesArraysAsTheyLie) {
  const std::vector<double> first = random_array(5, 3, 12);
  const std::vector<double> second = random_array(5, 2, 20);
  ViewSource source;
  source.add("a", attention_view(first.data(), 5, 3, 12));
  source.add("b", attention_view(second.data(), 5, 2, 20));
  FakeBackend backend;
  MeasuredOn what;
  const MeasuringDevice device = on(backend, {0, 1});
  expect_same(measured(source, device, &what), measured(source, {}));
  ASSERT_EQ(backend.asked().size(), 2U);  // a layer a device
  EXPECT_EQ(backend.asked()[0].samples, 5);
  EXPECT_NE(backend.asked()[0].device, backend.asked()[1].device);
  EXPECT_EQ(what.text(device), "fake (device 0), fake (device 1), float64");
}

TEST(MeasureOnDevice, LeavesOutPadding) {
  const std::vector<double> values = random_array(3, 2, 15);
  ViewSource source;
  source.add("0", attention_view(values.data(), 3, 2, 15));
  source.choose({{0, 2, 15}, {0, 2, 9}, {2, 0, 15}});
  FakeBackend backend;
  expect_same(measured(source, on(backend)), measured(source, {}));
  EXPECT_EQ(backend.asked().front().sequences, 3U);
}

MemorySource::Systems memory_systems() {
  MemorySource::Systems systems;
  RandomSequence draws(8, Purpose::kTest, 0);
  for (const auto& [heads, nodes] : {std::pair(2, 10), std::pair(4, 16), std::pair(2, 10)}) {
    auto& samples = systems.emplace_back(6);
    for (auto& sample : samples)
      for (int h = 0; h < heads; ++h)
        sample.push_back(head_of_attention("", random_attention(nodes, 1.0, draws)));
  }
  return systems;
}

TEST(MeasureOnDevice, GathersWhatIsRead) {
  MemorySource source(memory_systems());
  FakeBackend backend;
  MeasuredOn what;
  expect_same(measured(source, on(backend, {0, 1}), &what), measured(source, {}));
  EXPECT_EQ(what.on_device, 18U);
  EXPECT_LT(backend.asked().size(), 18U);
}

TEST(MeasureOnDevice, LeavesToTheCpuWhatIsRefused) {
  MemorySource source(memory_systems());
  FakeBackend backend;
  backend.most_tokens = 12;
  MeasuredOn what;
  const MeasuringDevice device = on(backend);
  expect_same(measured(source, device, &what), measured(source, {}));
  EXPECT_EQ(what.on_device, 12U);
  EXPECT_EQ(what.on_cpu, 6U);
  EXPECT_THAT(what.text(device), HasSubstr("6 of 18 systems on the CPU"));
  backend.refuses = true;
  measured(source, device, &what);
  EXPECT_EQ(what.text(device), "");
}

TEST(MeasureOnDevice, ReportsFailuresUnlessAutomatic) {
  MemorySource read(memory_systems());
  const std::vector<double> values = random_array(4, 2, 10);
  ViewSource lying;
  lying.add("0", attention_view(values.data(), 4, 2, 10));
  FakeBackend backend;
  backend.failure = "CUDA: too little memory of the GPU is left";
  for (AttentionSource* source :
       {static_cast<AttentionSource*>(&read), static_cast<AttentionSource*>(&lying)}) {
    EXPECT_THROW(measured(*source, on(backend)), InputError);
    expect_same(measured(*source, on(backend, {0}, true)), measured(*source, {}));
  }
}

TEST(MeasureOnDevice, NamesTheLayerOfBadAttention) {
  const std::vector<double> good = random_array(2, 2, 10);
  std::vector<double> bad = random_array(2, 2, 10);
  bad[5] = 0.5;
  ViewSource source;
  source.add("good", attention_view(good.data(), 2, 2, 10));
  source.add("bad", attention_view(bad.data(), 2, 2, 10));
  FakeBackend backend;
  const auto message = [&](const MeasuringDevice& device) -> std::string {
    try {
      measured(source, device);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(on(backend)), HasSubstr("layer bad, "));
  EXPECT_EQ(message(on(backend)), message({}));
  EXPECT_EQ(message(on(backend, {0}, true)), message({}));
}

/// Queries and keys of some heads, and what the softmax makes of them.
struct Scores {
  int samples = 2, heads = 4, key_heads = 2, tokens = 14, width = 3;
  std::vector<float> queries, keys;
  std::vector<float> logits = {0.5F, -1.0F, 0.0F, 2.0F};

  Scores() {
    RandomSequence draws(9, Purpose::kTest, 0);
    for (int k = 0; k < samples * heads * tokens * width; ++k)
      queries.push_back(static_cast<float>(draws.normal()));
    for (int k = 0; k < samples * key_heads * tokens * width; ++k)
      keys.push_back(static_cast<float>(draws.normal()));
  }
  QueryKeyView view() const {
    QueryKeyView scores;
    scores.queries = queries.data();
    scores.keys = keys.data();
    scores.type = FloatType::kFloat32;
    scores.samples = samples;
    scores.heads = heads;
    scores.key_heads = key_heads;
    scores.tokens = tokens;
    scores.width = width;
    const std::ptrdiff_t token = 4 * width;
    scores.query_strides = {token * tokens * heads, token * tokens, token};
    scores.key_strides = {token * tokens * key_heads, token * tokens, token};
    scores.scale = 0.7;
    return scores;
  }
};

TEST(ReadProbabilities, AreTheSoftmaxOfScores) {
  const Scores given;
  QueryKeyView view = given.view();
  view.softcap = 2.0;
  view.window = 5;
  view.sink_logits = given.logits.data();
  std::vector<double> values(14 * 14);
  read_probabilities(view, 1, 3, values.data());
  for (int i = 0; i < 14; ++i) {
    std::vector<double> exponentials(14, 0.0);
    double sum = std::exp(2.0);
    for (int j = std::max(0, i - 4); j <= i; ++j) {
      double score = 0.0;
      for (int f = 0; f < 3; ++f)
        score += double{given.queries[static_cast<std::size_t>(((4 + 3) * 14 + i) * 3 + f)]} *
                 double{given.keys[static_cast<std::size_t>(((2 + 1) * 14 + j) * 3 + f)]};
      const double exponential = std::exp(2.0 * std::tanh(0.7 * score / 2.0));
      exponentials[static_cast<std::size_t>(j)] = exponential;
      sum += exponential;
    }
    for (int j = 0; j < 14; ++j)
      EXPECT_NEAR(values[static_cast<std::size_t>(i * 14 + j)],
                  exponentials[static_cast<std::size_t>(j)] / sum, 1e-15);
  }
}

TEST(MeasureOnDevice, TakesQueriesAndKeys) {
  const Scores given;
  FakeBackend backend;
  for (const bool placed : {false, true}) {
    ViewSource source({}, MissingMass::kNode);
    QueryKeyView view = given.view();
    view.sink_logits = given.logits.data();
    const FetchHead fetch = [view](std::int64_t sample, std::int64_t head, void* into) {
      read_probabilities(view, sample, head, static_cast<double*>(into));
    };
    int stream = 0;
    if (placed)
      source.add_scores("0", view, fetch, FloatType::kFloat64, DevicePlace{0, &stream});
    else
      source.add_scores("0", view);
    expect_same(measured(source, on(backend)), measured(source, {}));
    EXPECT_TRUE(backend.asked().back().scores);
    EXPECT_EQ(backend.asked().back().stream, placed ? &stream : nullptr);
  }
}

TEST(MeasureOnDevice, CopiesQueriesAndKeysThatLieBackwards) {
  const Scores given;
  QueryKeyView view = given.view();
  // Tokens and samples the other way round.
  for (auto [data, strides] :
       {std::pair(&view.queries, &view.query_strides), std::pair(&view.keys, &view.key_strides)}) {
    *data = static_cast<const std::byte*>(*data) + strides->sample + 13 * strides->token;
    strides->sample = -strides->sample;
    strides->token = -strides->token;
  }
  ViewSource source;
  source.add_scores("0", view);
  FakeBackend backend;
  expect_same(measured(source, on(backend)), measured(source, {}));
}

TEST(SubsetsOnDevice, AreThoseOfTheCpu) {
  MemorySource source(memory_systems());
  HeadList heads(source.system(1, 0));
  const std::vector<double> weights = weights_of(source, 1);
  FakeBackend backend;
  SubsetsOnDevice subsets(on(backend, {0, 1}));
  const SubsetValues expected = subset_values(heads, weights);
  const SubsetValues found = subsets.values(heads, weights, {});
  ASSERT_EQ(found.fidelity.size(), 16U);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_NEAR(found.fidelity[k], expected.fidelity[k], 1e-14);
    EXPECT_NEAR(found.speed[k], expected.speed[k], 1e-14);
  }
  EXPECT_EQ(subsets.measured_on(), "fake (device 0), float64");
  backend.failure = "CUDA: too little memory of the GPU is left";
  EXPECT_THROW(subsets.values(heads, weights, {}), InputError);
  backend.refuses = true;
  EXPECT_EQ(subsets.values(heads, weights, {}).fidelity, expected.fidelity);
  EXPECT_THAT(subsets.measured_on(), HasSubstr("1 of 2 systems on the CPU"));
}

TEST(MeasureOnDevice, ChecksQueriesAndKeys) {
  const Scores given;
  const auto trouble = [&](auto change) -> std::string {
    QueryKeyView view = given.view();
    change(view);
    try {
      ViewSource().add_scores("0", view);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.key_heads = 3; }), HasSubstr("not a multiple"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.tokens = 0; }), HasSubstr("0 tokens"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.keys = nullptr; }), HasSubstr("no data"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.scale = NAN; }), HasSubstr("scale"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.softcap = -1.0; }), HasSubstr("soft cap"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.window = -1; }), HasSubstr("window"));
  EXPECT_THAT(trouble([](QueryKeyView& v) { v.key_strides.token = 3; }), HasSubstr("stride"));
}

}  // namespace
}  // namespace synergraph
