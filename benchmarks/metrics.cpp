// The metrics of one matrix: what docs/performance.md reports. Run with --benchmark_filter=... to
// choose.

#include <benchmark/benchmark.h>

#include <cmath>

#include "benchmarks/multiply_adds.h"
#include "synergraph/chain/mixing.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/random.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/graph/generators.h"

namespace {

using namespace synergraph;  // NOLINT: a program of this library alone

/// Softmax rows of standard normal logits.
Matrix softmax_attention(int nodes) {
  RandomSequence draws(1, Purpose::kTest);
  Matrix attention(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    double sum = 0.0;
    for (int j = 0; j <= i; ++j) sum += attention(i, j) = std::exp(draws.normal());
    for (int j = 0; j <= i; ++j) attention(i, j) /= sum;
  }
  return attention;
}

/// The same, slowed down: every token keeps all but `leak` for itself.
Matrix slow_attention(int nodes, double leak) {
  Matrix attention = softmax_attention(nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < i; ++j) attention(i, j) *= leak;
    attention(i, i) = i == 0 ? 1.0 : 1.0 - leak * (1.0 - attention(i, i));
  }
  return attention;
}

void report_flops(benchmark::State& state, double multiply_adds) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * multiply_adds, benchmark::Counter::kIsIterationInvariantRate);
}

/// What one core can do at most: independent multiply-adds in registers.
void fma_peak(benchmark::State& state) {
  double multiply_adds = 0.0;
  for (auto _ : state) multiply_adds = spend_multiply_adds();
  report_flops(state, multiply_adds);
}
BENCHMARK(fma_peak);

/// What one core can read at most, far outside the caches.
void memory_read(benchmark::State& state) {
  const AlignedVector<double> data(std::size_t{1} << 24U, 1.0);
  for (auto _ : state) benchmark::DoNotOptimize(total(data.data(), static_cast<int>(data.size())));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(data.size() * sizeof(double)));
}
BENCHMARK(memory_read)->Unit(benchmark::kMillisecond);

/// Truncated hitting time (cutoff 100) and fidelity (horizon 100) of one matrix, at every node.
void both_metrics(benchmark::State& state, const Matrix& attention) {
  const Walk walk = walk_of_attention(attention);
  for (auto _ : state) {
    benchmark::DoNotOptimize(truncated_hitting_times(walk, 100).mean);
    benchmark::DoNotOptimize(fidelity(attention, {.horizon = 100}).minimax);
  }
  const double n = attention.rows();
  report_flops(state, 2.0 * 100 * n * (n + 1) / 2);  // if no step could be saved
}
BENCHMARK_CAPTURE(both_metrics, softmax_100, softmax_attention(100))->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(both_metrics, uniform_100, diffusion_matrix(complete_graph(100)))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(both_metrics, slow_100, slow_attention(100, 1e-3))->Unit(benchmark::kMicrosecond);

/// The two numbers the paper prints: the mean time and the minimax fidelity alone.
void published_numbers(benchmark::State& state, const Matrix& attention) {
  const Walk walk = walk_of_attention(attention);
  for (auto _ : state) {
    benchmark::DoNotOptimize(truncated_hitting_times(walk, 100).mean);
    benchmark::DoNotOptimize(fidelity(attention, {.horizon = 100, .minimax_alone = true}).minimax);
  }
}
BENCHMARK_CAPTURE(published_numbers, softmax_100, softmax_attention(100))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(published_numbers, slow_100, slow_attention(100, 1e-3))
    ->Unit(benchmark::kMicrosecond);

void truncated_hitting(benchmark::State& state) {
  const Walk walk = walk_of_attention(softmax_attention(static_cast<int>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(truncated_hitting_times(walk, 100).mean);
  const auto n = static_cast<double>(state.range(0));
  report_flops(state, 100 * n * (n - 1) / 2);
}
BENCHMARK(truncated_hitting)->Arg(100)->Arg(1024)->Unit(benchmark::kMicrosecond);

void fixed_fidelity(benchmark::State& state) {
  const Matrix attention = softmax_attention(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(fidelity(attention, {.horizon = 100}).minimax);
}
BENCHMARK(fixed_fidelity)->Arg(100)->Arg(1024)->Unit(benchmark::kMicrosecond);

void fixed_minimax(benchmark::State& state) {
  const Matrix attention = softmax_attention(static_cast<int>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(fidelity(attention, {.horizon = 100, .minimax_alone = true}).minimax);
}
BENCHMARK(fixed_minimax)->Arg(100)->Arg(1024)->Unit(benchmark::kMicrosecond);

void certified_fidelity(benchmark::State& state) {
  const Matrix attention = softmax_attention(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(fidelity(attention).minimax);
}
BENCHMARK(certified_fidelity)->Arg(100)->Arg(1024)->Unit(benchmark::kMicrosecond);

void walk_from_attention(benchmark::State& state) {
  const Matrix attention = softmax_attention(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(walk_of_attention(attention).leave.data());
}
BENCHMARK(walk_from_attention)->Arg(100)->Arg(4096)->Unit(benchmark::kMicrosecond);

void untruncated_hitting(benchmark::State& state) {
  const Walk walk = walk_of_attention(softmax_attention(static_cast<int>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(hitting_times(walk).max);
  state.SetBytesProcessed(state.iterations() * state.range(0) * state.range(0) / 2 * 8);
}
BENCHMARK(untruncated_hitting)->Arg(100)->Arg(4096)->Unit(benchmark::kMicrosecond);

void mixing(benchmark::State& state, const Matrix& attention, int threads) {
  const Walk walk = walk_of_attention(attention);
  double steps = 0.0;
  for (auto _ : state)
    benchmark::DoNotOptimize(steps = mixing_time(walk, 0.25, {.threads = threads}));
  state.counters["steps"] = steps;
}
BENCHMARK_CAPTURE(mixing, softmax_100, softmax_attention(100), 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(mixing, slow_100, slow_attention(100, 1e-10), 1)->Unit(benchmark::kMicrosecond);

void mixing_4096(benchmark::State& state, double leak) {
  mixing(state, leak == 1.0 ? softmax_attention(4096) : slow_attention(4096, leak), 2);
}
BENCHMARK_CAPTURE(mixing_4096, softmax, 1.0)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(mixing_4096, slow, 1e-5)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

void squaring(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const Walk walk = walk_of_attention(softmax_attention(n));
  Matrix result(n, n);
  const Execution execution{.threads = static_cast<int>(state.range(1))};
  for (auto _ : state) square_upper(walk.step, result.view(), execution);
  report_flops(state, static_cast<double>(n) * (n + 1.0) * (n + 2.0) / 6);
}
BENCHMARK(squaring)
    ->Args({100, 1})
    ->Args({1024, 1})
    ->Args({4096, 1})
    ->Args({4096, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
