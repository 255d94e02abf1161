#include "synergraph/heads/stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/io/tensor_file.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;
using testing_support::random_attention;
using testing_support::random_weights;

/// Heads in memory that count how often they are read.
class CountedHeads : public HeadSource {
 public:
  explicit CountedHeads(const std::vector<Matrix>& heads) : list_(heads.begin(), heads.end()) {}
  int heads() const override { return static_cast<int>(list_.size()); }
  int nodes() const override { return list_.empty() ? 0 : list_.front().nodes(); }
  const MirroredMatrix& head(int h) override {
    ++reads;
    return list_[static_cast<std::size_t>(h)];
  }
  int reads = 0;

 private:
  std::vector<MirroredMatrix> list_;
};

/// Layers of heads, and their weights.
struct Layers {
  std::vector<std::vector<Matrix>> heads;
  std::vector<std::vector<double>> weights;

  std::vector<CountedHeads> sources() const { return {heads.begin(), heads.end()}; }
};

Stack measure(const Layers& layers, const StackOptions& options = {}) {
  std::vector<CountedHeads> sources = layers.sources();
  std::vector<HeadSource*> pointers;
  for (CountedHeads& source : sources) pointers.push_back(&source);
  Stack stack = measure_stack(pointers, layers.weights, options);
  for (const CountedHeads& source : sources) EXPECT_EQ(source.reads, 2 * source.heads());
  return stack;
}

Stack measure_in_order(const Layers& layers, const StackOptions& options = {}) {
  std::vector<CountedHeads> sources = layers.sources();
  StackMeasurement measurement(options);
  for (std::size_t l = 0; l < sources.size(); ++l) measurement.add(sources[l], layers.weights[l]);
  for (CountedHeads& source : sources) measurement.follow(source);
  for (const CountedHeads& source : sources) EXPECT_EQ(source.reads, 2 * source.heads());
  return measurement.take();
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k)
    EXPECT_NEAR(actual[k], expected[k], tolerance * expected[k]) << k;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

Matrix identity(int nodes) {
  Matrix matrix(nodes, nodes);
  for (int i = 0; i < nodes; ++i) matrix(i, i) = 1.0;
  return matrix;
}

Matrix uniform(int nodes) {
  Matrix matrix(nodes, nodes);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j <= i; ++j) matrix(i, j) = 1.0 / (i + 1);
  return matrix;
}

/// Every token takes everything from the one before it.
Matrix previous(int nodes) {
  Matrix matrix(nodes, nodes);
  for (int i = 0; i < nodes; ++i) matrix(i, i == 0 ? 0 : i - 1) = 1.0;
  return matrix;
}

Layers random_layers(std::uint32_t index) {
  RandomSequence draws(2026, Purpose::kTest, index);
  Layers layers;
  const int nodes = 1 + static_cast<int>(draws.below(12));
  const auto count = 1 + draws.below(6);
  for (std::uint64_t l = 0; l < count; ++l) {
    auto& heads = layers.heads.emplace_back();
    const auto head_count = 1 + draws.below(4);
    for (std::uint64_t h = 0; h < head_count; ++h)
      heads.push_back(random_attention(nodes, 4.0 * draws.uniform(), draws));
    layers.weights.push_back(random_weights(heads.size(), draws));
  }
  return layers;
}

TEST(Stack, AgreesWithTheReference) {
  const std::string folder = std::string(SYNERGRAPH_TEST_DATA) + "/subsets/";
  std::ifstream json_file(folder + "expected.json");
  const auto expected = nlohmann::json::parse(json_file);
  const TensorFile file = TensorFile::open(folder + "heads.npy");
  const Tensor& tensor = file.tensors().front();
  const std::vector<double> values = tensor.values<double>();
  const auto nodes = static_cast<int>(tensor.shape()[2]);
  Layers layers;
  auto value = values.begin();
  for (std::int64_t l = 0; l < tensor.shape()[0]; ++l) {
    auto& heads = layers.heads.emplace_back();
    for (std::int64_t h = 0; h < tensor.shape()[1]; ++h) {
      Matrix& head = heads.emplace_back(nodes, nodes);
      for (int i = 0; i < nodes; ++i)
        for (int j = 0; j < nodes; ++j) head(i, j) = *value++;
    }
  }
  layers.weights = expected["weights"].get<std::vector<std::vector<double>>>();
  const auto& reference = expected["stack"];
  for (const Stack& stack : {measure(layers), measure_in_order(layers)}) {
    expect_close(stack.signal, reference["signal"].get<std::vector<double>>(), 1e-12);
    const auto fidelity = reference["fidelity"].get<double>();
    EXPECT_NEAR(stack.fidelity, fidelity, 1e-12 * fidelity);
    EXPECT_EQ(stack.weakest, reference["weakest"].get<int>());
    EXPECT_EQ(stack.token, stack.weakest);
    const auto tokens = reference["effective_tokens"].get<double>();
    EXPECT_NEAR(stack.effective_tokens, tokens, 1e-12 * tokens);
    ASSERT_EQ(stack.layers.size(), layers.heads.size());
    for (std::size_t l = 0; l < stack.layers.size(); ++l) {
      std::vector<double> shares = stack.layers[l].heads;
      shares.push_back(stack.layers[l].residual);
      const auto& through = reference["through_heads_then_residual"][l];
      expect_close(shares, through.get<std::vector<double>>(), 1e-12);
    }
  }
}

/// Long doubles, row-major.
struct WideMatrix {
  int nodes;
  std::vector<long double> values = std::vector<long double>(
      static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes), 0.0L);
  long double& operator()(int i, int j) { return values[static_cast<std::size_t>(i * nodes + j)]; }
};

WideMatrix operator*(WideMatrix a, WideMatrix b) {
  WideMatrix result{a.nodes};
  for (int i = 0; i < a.nodes; ++i)
    for (int k = 0; k < a.nodes; ++k)
      for (int j = 0; j < a.nodes; ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}

WideMatrix wide(const Matrix& from, long double factor) {
  WideMatrix result{from.rows()};
  for (int i = 0; i < from.rows(); ++i)
    for (int j = 0; j <= i; ++j) result(i, j) = factor * from(i, j);
  return result;
}

WideMatrix operator+(WideMatrix a, const WideMatrix& b) {
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] += b.values[k];
  return a;
}

TEST(Stack, IsTheProductOfTheLayersOverRandomOnes) {
  for (std::uint32_t index = 0; index < 500; ++index) {
    const Layers layers = random_layers(index);
    const int nodes = layers.heads.front().front().rows();
    const std::size_t count = layers.heads.size();
    RandomSequence draws(2027, Purpose::kTest, index);
    StackOptions options{.residual = draws.uniform()};
    if (index % 2 == 0)
      options.token = static_cast<int>(draws.below(static_cast<std::uint32_t>(nodes)));
    const auto a = static_cast<long double>(options.residual);
    std::vector<WideMatrix> mixed;  // R_l
    for (std::size_t l = 0; l < count; ++l) {
      mixed.push_back(wide(identity(nodes), a));
      for (std::size_t h = 0; h < layers.heads[l].size(); ++h)
        mixed[l] = mixed[l] + wide(layers.heads[l][h], (1.0L - a) * layers.weights[l][h]);
    }
    /// The product of layers first .. last, the last one leftmost, with layer l replaced.
    const auto product_with = [&](std::size_t replaced, const WideMatrix& by) {
      WideMatrix result = wide(identity(nodes), 1.0L);
      for (std::size_t l = 0; l < count; ++l) result = (l == replaced ? by : mixed[l]) * result;
      return result;
    };
    WideMatrix whole = product_with(count, {nodes});
    for (const Stack& stack : {measure(layers, options), measure_in_order(layers, options)}) {
      std::vector<double> signal;
      for (int j = 0; j < nodes; ++j) signal.push_back(static_cast<double>(whole(nodes - 1, j)));
      expect_close(stack.signal, signal, 1e-14);
      EXPECT_NEAR(sum(stack.signal), 1.0, 1e-14);
      EXPECT_GE(stack.effective_tokens, 1.0 - 1e-14);
      EXPECT_LE(stack.effective_tokens, nodes * (1.0 + 1e-14));
      for (int j = 0; j + 1 < nodes; ++j)
        EXPECT_LE(stack.fidelity, stack.signal[static_cast<std::size_t>(j)]);
      EXPECT_EQ(stack.fidelity, stack.signal[static_cast<std::size_t>(stack.weakest)]);
      EXPECT_EQ(stack.token, options.token.value_or(stack.weakest));
      for (std::size_t l = 0; l < count; ++l) {
        const StackLayerPath& path = stack.layers[l];
        EXPECT_NEAR(sum(path.heads) + path.residual, 1.0, 1e-14);
        std::vector<WideMatrix> parts;
        for (std::size_t h = 0; h < layers.heads[l].size(); ++h)
          parts.push_back(wide(layers.heads[l][h], (1.0L - a) * layers.weights[l][h]));
        parts.push_back(wide(identity(nodes), a));
        std::vector<double> expected;
        for (const WideMatrix& part : parts)
          expected.push_back(static_cast<double>(product_with(l, part)(nodes - 1, stack.token) /
                                                 whole(nodes - 1, stack.token)));
        std::vector<double> shares = path.heads;
        shares.push_back(path.residual);
        expect_close(shares, expected, 1e-13);
      }
    }
  }
}

TEST(Stack, OfOneLayerIsItsLastRow) {
  RandomSequence draws(1, Purpose::kTest, 0);
  const Matrix head = random_attention(6, 1.0, draws);
  const Stack stack = measure({{{head}}, {{3.0}}}, {.residual = 0.25, .token = 5});
  for (int j = 0; j < 6; ++j)
    EXPECT_DOUBLE_EQ(stack.signal[static_cast<std::size_t>(j)],
                     0.75 * head(5, j) + (j == 5 ? 0.25 : 0.0));
  EXPECT_DOUBLE_EQ(stack.layers[0].residual, 0.25 / (0.25 + 0.75 * head(5, 5)));
}

TEST(Stack, OfHeadsThatKeepEverythingStaysAtTheSink) {
  const Layers layers{{{identity(3), identity(3)}, {identity(3)}}, {{1.0, 3.0}, {1.0}}};
  const Stack stack = measure(layers, {.token = 2});
  EXPECT_THAT(stack.signal, ElementsAre(0.0, 0.0, 1.0));
  EXPECT_EQ(stack.effective_tokens, 1.0);
  EXPECT_THAT(stack.layers[0].heads, ElementsAre(0.125, 0.375));
  EXPECT_EQ(stack.layers[0].residual, 0.5);
  EXPECT_THAT(stack.layers[1].heads, ElementsAre(0.5));
}

TEST(Stack, OfOneUniformLayerWithoutResidualReachesEveryTokenAlike) {
  const Stack stack = measure({{{uniform(8)}}, {{1.0}}}, {.residual = 0.0});
  EXPECT_THAT(stack.signal, Each(0.125));
  EXPECT_EQ(stack.weakest, 0);
  EXPECT_NEAR(stack.effective_tokens, 8.0, 1e-14);
}

TEST(Stack, OfPreviousTokensIsBinomial) {
  // L layers that go one token back or stay: j = sink - k has C(L, k) / 2^L.
  const Layers layers{{{previous(6)}, {previous(6)}, {previous(6)}, {previous(6)}},
                      {{1.0}, {1.0}, {1.0}, {1.0}}};
  const Stack stack = measure(layers, {.token = 3});
  EXPECT_THAT(stack.signal, ElementsAre(0.0, 0.0625, 0.25, 0.375, 0.25, 0.0625));
  EXPECT_EQ(stack.fidelity, 0.0);
  EXPECT_EQ(stack.weakest, 0);
  for (const StackLayerPath& path : stack.layers) EXPECT_THAT(path.heads, ElementsAre(0.5));
}

TEST(Stack, OfLayersThatAreSkippedIsTheSinkAlone) {
  for (const Stack& stack : {measure(random_layers(3), {.residual = 1.0}),
                             measure_in_order(random_layers(3), {.residual = 1.0})}) {
    EXPECT_EQ(stack.signal.back(), 1.0);
    EXPECT_EQ(stack.fidelity, 0.0);
    EXPECT_EQ(stack.effective_tokens, 1.0);
    // No signal of the weakest token, and so no shares of it.
    for (const StackLayerPath& path : stack.layers) {
      EXPECT_THAT(path.heads, Each(IsNan()));
      EXPECT_THAT(path.residual, IsNan());
    }
  }
}

TEST(Stack, OfOneTokenIsThatToken) {
  const Stack stack = measure({{{identity(1), identity(1)}}, {{1.0, 1.0}}});
  EXPECT_THAT(stack.signal, ElementsAre(1.0));
  EXPECT_EQ(stack.fidelity, 1.0);
  EXPECT_EQ(stack.weakest, 0);
  EXPECT_EQ(stack.effective_tokens, 1.0);
  EXPECT_THAT(stack.layers[0].heads, ElementsAre(0.25, 0.25));
}

TEST(Stack, WithoutFollowingHasTheSignalAlone) {
  const Layers layers = random_layers(5);
  std::vector<CountedHeads> sources = layers.sources();
  StackMeasurement measurement;
  for (std::size_t l = 0; l < sources.size(); ++l) measurement.add(sources[l], layers.weights[l]);
  const Stack stack = measurement.take();
  EXPECT_EQ(stack.signal, measure_in_order(layers).signal);
  EXPECT_TRUE(stack.layers.empty());
}

// The chosen tokens alone count: for the fidelity, for the token that is followed, and for the
// shares, which are the means of the tokens' own by what arrives from each.
TEST(Stack, CountsTheChosenSources) {
  for (std::uint32_t index = 0; index < 20; ++index) {
    const Layers layers = random_layers(index);
    const int nodes = layers.heads.front().front().rows();
    if (nodes < 4) continue;
    const std::vector<double> signal = measure(layers).signal;
    StackOptions options;
    options.from = TokenChoice("0,2,-1", "from");
    for (const Stack& stack : {measure(layers, options), measure_in_order(layers, options)}) {
      EXPECT_NEAR(stack.fidelity, std::min(signal[0], signal[2]), 1e-13);
      EXPECT_EQ(stack.weakest, signal[0] <= signal[2] ? 0 : 2);
      EXPECT_EQ(stack.token, stack.weakest);
      expect_close(stack.signal, signal, 1e-13);
      const Stack first = measure(layers, {.token = 0});
      const Stack second = measure(layers, {.token = 2});
      const double both = signal[0] + signal[2];
      ASSERT_EQ(stack.shares.size(), layers.heads.size());
      for (std::size_t l = 0; both > 0.0 && l < layers.heads.size(); ++l) {
        const auto mean = [&](const auto& share) {
          const auto part = [&](const Stack& of, double arrives) {
            return arrives > 0.0 ? arrives * share(of.layers[l]) : 0.0;
          };
          return (part(first, signal[0]) + part(second, signal[2])) / both;
        };
        EXPECT_NEAR(stack.shares[l].residual,
                    mean([](const StackLayerPath& path) { return path.residual; }), 1e-13);
        for (std::size_t h = 0; h < layers.heads[l].size(); ++h)
          EXPECT_NEAR(stack.shares[l].heads[h],
                      mean([&](const StackLayerPath& path) { return path.heads[h]; }), 1e-13);
      }
    }
  }
}

// Token 0 is behind the node for missing mass; where only the sink is chosen it counts itself.
TEST(Stack, PlacesTheChosenSources) {
  StackOptions options;
  options.from = TokenChoice("0-2", "from");
  options.first_token = 1;
  EXPECT_THAT(stack_sources(options, 6), ElementsAre(1, 2, 3));
  options.from = TokenChoice("::1", "from");
  EXPECT_THAT(stack_sources(options, 4), ElementsAre(1, 2));
  options.from = TokenChoice("-1", "from");
  EXPECT_THAT(stack_sources(options, 4), ElementsAre(3));
  options.from = {};
  EXPECT_THAT(stack_sources(options, 3), ElementsAre(0, 1));
  EXPECT_THAT(stack_sources(options, 1), ElementsAre(0));
}

TEST(Stack, RefusesWhatDoesNotFit) {
  const auto refused = [](const Layers& layers, const StackOptions& options,
                          const std::string& message) {
    EXPECT_THAT([&] { measure(layers, options); }, ThrowsMessage<InputError>(HasSubstr(message)));
    EXPECT_THAT([&] { measure_in_order(layers, options); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refused({}, {}, "no layers");
  refused({{{}}, {{}}}, {}, "layer 0: 0 heads of 0 nodes");
  refused({{{uniform(3)}, {uniform(4)}}, {{1.0}, {1.0}}}, {},
          "layer 1 has 4 nodes, the first layer 3");
  refused({{{uniform(3)}, {uniform(3)}}, {{1.0}, {1.0, 1.0}}}, {},
          "layer 1: 2 weights for 1 heads");
  refused({{{uniform(3)}}, {{0.0}}}, {}, "layer 0: all head weights are zero");
  refused({{{uniform(3)}}, {{1.0}}}, {.residual = 1.5}, "residual share 1.5 is not in 0 to 1");
  refused({{{uniform(3)}}, {{1.0}}}, {.residual = std::nan("")}, "residual share");
  refused({{{uniform(3)}}, {{1.0}}}, {.token = 3}, "token 3 was asked for, there are 0 to 2");
  refused({{{uniform(3)}}, {{1.0}}}, {.token = -1}, "token -1 was asked for");
  EXPECT_THAT(
      [&] {
        measure({{{uniform(3)}}, {}});
      },
      ThrowsMessage<InputError>(HasSubstr("weights of 0 layers, for 1")));

  CountedHeads layer({uniform(3)});
  CountedHeads other({uniform(3), uniform(3)});
  StackMeasurement measurement;
  measurement.add(layer, {1.0});
  EXPECT_THAT([&] { measurement.follow(other); },
              ThrowsMessage<InputError>(HasSubstr("other heads")));
  measurement.follow(layer);
  EXPECT_THAT([&] { measurement.follow(layer); },
              ThrowsMessage<InputError>(HasSubstr("more layers")));
  EXPECT_THAT([&] { measurement.add(layer, {1.0}); },
              ThrowsMessage<InputError>(HasSubstr("added")));
}

TEST(Stack, StopsWhenAsked) {
  Execution execution;
  execution.stop = [] { return true; };
  EXPECT_THROW(measure({{{uniform(3)}}, {{1.0}}}, {.execution = execution}), Stopped);
}

}  // namespace
}  // namespace synergraph
