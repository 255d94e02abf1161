// What all subsets of heads say, from a table of their values: what docs/performance.md reports.

#include <benchmark/benchmark.h>

#include "synergraph/core/random.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/pruning.h"
#include "synergraph/subsets/sampled_game.h"

namespace {

using namespace synergraph;  // NOLINT: a program of this library alone

std::vector<double> random_table(std::int64_t heads) {
  RandomSequence draws(1, Purpose::kTest);
  std::vector<double> values(std::size_t{1} << heads);
  for (double& value : values) value = draws.uniform();
  return values;
}

void indices(benchmark::State& state) {
  const std::vector<double> values = random_table(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(game_indices(values, static_cast<int>(state.range(1))));
}
BENCHMARK(indices)
    ->ArgNames({"heads", "order"})
    ->ArgsProduct({{16, 20}, {1, 2, 3}})
    ->Unit(benchmark::kMillisecond);

void moebius(benchmark::State& state) {
  std::vector<double> values = random_table(state.range(0));
  for (auto _ : state) {
    moebius_transform(values);
    inverse_moebius_transform(values);
  }
}
BENCHMARK(moebius)->ArgName("heads")->Arg(16)->Arg(20)->Unit(benchmark::kMillisecond);

void pruning(benchmark::State& state) {
  const std::vector<double> values = random_table(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(greedy_addition(values));
    benchmark::DoNotOptimize(greedy_removal(values));
    benchmark::DoNotOptimize(shapley_path(values));
    benchmark::DoNotOptimize(smallest_subset(values));
    benchmark::DoNotOptimize(subsets_beating_all(values));
  }
}
BENCHMARK(pruning)->ArgName("heads")->Arg(16)->Arg(20)->Unit(benchmark::kMillisecond);

/// Orders of 40 heads, with values that cost nothing: what sampling itself takes.
void sampled_orders(benchmark::State& state) {
  const PrefixValues values = [](std::span<const int> order, int begin, int step,
                                 std::span<double> out) {
    double sum = 0.0;
    std::size_t next = 0;
    for (int k = 0; k <= static_cast<int>(order.size()); ++k) {
      if (k >= begin && (k - begin) % step == 0) out[next++] = sum * sum;
      if (k < static_cast<int>(order.size())) sum += order[static_cast<std::size_t>(k)];
    }
  };
  const SamplingOptions options{
      .precision = 0.0, .max_permutations = 8000, .pairs = true, .execution = {.threads = 1}};
  for (auto _ : state) benchmark::DoNotOptimize(sample_games(40, 1, values, options));
}
BENCHMARK(sampled_orders)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
