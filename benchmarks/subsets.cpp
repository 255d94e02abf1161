// What all subsets of heads say, from a table of their values: what docs/performance.md reports.

#include <benchmark/benchmark.h>

#include <cmath>

#include "synergraph/core/random.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/pruning.h"
#include "synergraph/subsets/sampled_game.h"
#include "synergraph/subsets/subset_values.h"

namespace {

using namespace synergraph;  // NOLINT: a program of this library alone

std::vector<double> random_table(std::int64_t heads) {
  RandomSequence draws(1, Purpose::kTest);
  std::vector<double> values(std::size_t{1} << heads);
  for (double& value : values) value = draws.uniform();
  return values;
}

/// Fidelity and speed of all subsets of heads of 100 tokens, softmax attention of normal logits.
void table_of_values(benchmark::State& state, const MetricsOptions& convention) {
  constexpr int kTokens = 100;
  const std::int64_t heads = state.range(0);
  RandomSequence draws(1, Purpose::kTest);
  std::vector<double> attention(static_cast<std::size_t>(heads) * kTokens * kTokens, 0.0);
  for (std::int64_t row = 0; row < heads * kTokens; ++row) {
    double* entries = attention.data() + row * kTokens;
    double sum = 0.0;
    for (std::int64_t j = 0; j <= row % kTokens; ++j) sum += entries[j] = std::exp(draws.normal());
    for (std::int64_t j = 0; j <= row % kTokens; ++j) entries[j] /= sum;
  }
  const AttentionView view = attention_view(attention.data(), 1, heads, kTokens);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        subset_values(view, 0, {}, {.convention = convention, .execution = {.threads = 1}}));
  state.counters["a subset"] = benchmark::Counter(
      static_cast<double>(std::int64_t{1} << heads),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(table_of_values, exact, convention_options(Convention::kExact))
    ->ArgName("heads")
    ->Arg(12)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(table_of_values, published, convention_options(Convention::kPublished))
    ->ArgName("heads")
    ->Arg(12)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(table_of_values, per_head, graph_options(Convention::kExact))
    ->ArgName("heads")
    ->Arg(12)
    ->Unit(benchmark::kMillisecond);

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
