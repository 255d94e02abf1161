// The best weights of heads: what docs/performance.md reports.

#include <benchmark/benchmark.h>

#include <cmath>

#include "synergraph/core/random.h"
#include "synergraph/weights/best_weights.h"

namespace {

using namespace synergraph;  // NOLINT: a program of this library alone

constexpr int kNodes = 100;

/// Softmax rows of standard normal logits.
HeadSystems softmax_systems(int systems, int heads) {
  HeadSystems result;
  RandomSequence draws(1, Purpose::kTest);
  for (int s = 0; s < systems; ++s) {
    std::vector<Head> list;
    for (int h = 0; h < heads; ++h) {
      Matrix attention(kNodes, kNodes);
      for (int i = 0; i < kNodes; ++i) {
        double sum = 0.0;
        for (int j = 0; j <= i; ++j) sum += attention(i, j) = std::exp(draws.normal());
        for (int j = 0; j <= i; ++j) attention(i, j) /= sum;
      }
      list.push_back(head_of_attention("", std::move(attention)));
    }
    result.add(list);
  }
  return result;
}

void value_and_slopes(benchmark::State& state) {
  const HeadSystems systems = softmax_systems(1, 16);
  const std::vector<double> weights(16, 1.0);
  const auto goal = static_cast<WeightGoal>(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(value_and_gradient(
        systems, weights, goal, convention_options(Convention::kExact), {.threads = 1}));
}
BENCHMARK(value_and_slopes)->ArgName("goal")->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

void best(benchmark::State& state) {
  const auto heads = static_cast<int>(state.range(1));
  const HeadSystems systems = softmax_systems(static_cast<int>(state.range(2)), heads);
  const std::vector<double> weights(static_cast<std::size_t>(heads), 1.0);
  BestWeightsOptions options;
  options.execution.threads = 1;
  BestWeights found;
  for (auto _ : state)
    found = best_weights(systems, weights, static_cast<WeightGoal>(state.range(0)), options);
  state.counters["value"] = found.value;
  state.counters["bound"] = found.bound;
  state.counters["simple"] = found.simple_bound;
}
BENCHMARK(best)
    ->ArgNames({"goal", "heads", "systems"})
    ->ArgsProduct({{0, 1, 2}, {4, 16}, {1, 20}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
