// Metrics of small systems on a GPU beside the CPU's, on the same attention in one run: a matrix of
// many, systems of heads, and all subsets of the heads of one system.
// Usage: gpu_small_metrics [THREADS]   (of the CPU; 0 or nothing: all)
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "synergraph/core/parallel.h"
#include "synergraph/core/random.h"
#include "synergraph/device/cuda/small_systems.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/device/small/systems.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/subsets/subset_values.h"

namespace {

using namespace synergraph;

constexpr int kTokens = 100;
constexpr int kRepetitions = 5;

/// The shortest of a few runs, in seconds.
double shortest(const std::function<void()>& run, int repetitions = kRepetitions) {
  double best = 1e300;
  for (int k = 0; k < repetitions; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

/// Softmax rows of normal logits. A few hundred matrices repeat.
std::vector<float> random_attention(std::size_t matrices, double sharpness) {
  constexpr std::size_t kDistinct = 400;
  constexpr std::size_t kSize = std::size_t{kTokens} * kTokens;
  RandomSequence draws(5, Purpose::kTest, 0);
  std::vector<float> data(matrices * kSize, 0.0F);
  for (std::size_t m = 0; m < std::min(matrices, kDistinct); ++m)
    for (std::size_t i = 0; i < kTokens; ++i) {
      double row[kTokens];
      double sum = 0.0;
      for (std::size_t j = 0; j <= i; ++j) sum += row[j] = std::exp(sharpness * draws.normal());
      for (std::size_t j = 0; j <= i; ++j)
        data[m * kSize + i * kTokens + j] = static_cast<float>(row[j] / sum);
    }
  for (std::size_t m = kDistinct; m < matrices; ++m)
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(m % kDistinct * kSize), kSize,
                data.begin() + static_cast<std::ptrdiff_t>(m * kSize));
  return data;
}

std::size_t left_to_cpu(cudaStream_t stream, const AttentionView& view,
                        const BatchOptions& options) {
  small::DeviceRunner runner(stream);
  std::vector<TokenSpan> sequences;
  for (std::int64_t s = 0; s < view.samples; ++s) sequences.push_back({s, 0, view.tokens});
  const std::vector<double> weights(static_cast<std::size_t>(view.samples * view.heads),
                                    1.0 / static_cast<double>(view.heads));
  const auto found = small::measure_sequences(runner, small::attention_of(view, options), sequences,
                                              weights, options);
  return static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [](const auto& f) { return !f.has_value(); }));
}

void measure_systems_of(const char* what, int samples, int heads, double sharpness,
                        BatchOptions options, int threads, cudaStream_t stream) {
  const std::vector<float> data = random_attention(
      static_cast<std::size_t>(samples) * static_cast<std::size_t>(heads), sharpness);
  cuda::DeviceMemory<float> on_device(data.size());
  on_device.upload(data.data(), data.size(), stream);
  cuda::require(cudaStreamSynchronize(stream), "upload");
  const AttentionView view = attention_view(on_device.data(), samples, heads, kTokens);
  options.execution.threads = threads;
  cuda::SmallSystems systems(stream);
  systems.measure(view, {}, options);
  double kernels = 1e300;
  const double whole = shortest([&] {
    systems.measure(view, {}, options);
    kernels = std::min(kernels, systems.kernel_seconds());
  });
  const int few = std::max(1, samples / 20);
  const AttentionView on_cpu = attention_view(data.data(), few, heads, kTokens);
  const double all_cores = shortest([&] { measure(on_cpu, {}, options); }, 2);
  const int fewer = std::max(1, few / 8);
  options.execution.threads = 1;
  const double one_core = shortest(
      [&] { measure(attention_view(data.data(), fewer, heads, kTokens), {}, options); }, 2);
  const double matrices = static_cast<double>(samples) * heads;
  fmt::print("| {} | {:.3f} | {:.3f} | {:.2f} | {:.2f} | {} of {} |\n", what,
             1e6 * kernels / matrices, 1e6 * whole / matrices, 1e6 * one_core / (fewer * heads),
             1e6 * all_cores / (few * heads), left_to_cpu(stream, view, options), samples);
}

void measure_subsets_of(const char* what, double sharpness, const SubsetOptions& given, int threads,
                        cudaStream_t stream) {
  constexpr int kHeads = 16;
  const std::vector<float> data = random_attention(kHeads, sharpness);
  cuda::DeviceMemory<float> on_device(data.size());
  on_device.upload(data.data(), data.size(), stream);
  cuda::require(cudaStreamSynchronize(stream), "upload");
  const AttentionView view = attention_view(on_device.data(), 1, kHeads, kTokens);
  SubsetOptions options = given;
  options.execution.threads = threads;
  cuda::SmallSystems systems(stream);
  SubsetValues found = systems.subset_values(view, 0, {}, options);
  double kernels = 1e300;
  const double whole = shortest([&] {
    found = systems.subset_values(view, 0, {}, options);
    kernels = std::min(kernels, systems.kernel_seconds());
  });
  SubsetValues expected;
  const double cpu = shortest(
      [&] {
        expected = subset_values(attention_view(data.data(), 1, kHeads, kTokens), 0, {}, options);
      },
      1);
  double furthest = 0.0;
  for (std::size_t s = 1; s < expected.fidelity.size(); ++s)
    furthest = std::max({furthest, std::abs(found.fidelity[s] / expected.fidelity[s] - 1.0),
                         std::abs(found.speed[s] - expected.speed[s])});
  fmt::print("| {} | {:.2f} | {:.2f} | {:.0f} | {:.1e} |\n", what, 1e3 * kernels, 1e3 * whole,
             1e3 * cpu, furthest);
}

void run(int threads) {
  const cuda::Stream stream;
  BatchOptions exact;
  BatchOptions mixing = exact;
  mixing.conventions.front().walk.cutoff = 1;
  BatchOptions both = exact;
  both.conventions.push_back(convention_options(Convention::kPublished));
  fmt::print("microseconds a head, n = {}, {} CPU threads\n\n", kTokens,
             threads > 0 ? threads : default_thread_count());
  fmt::print("| what | kernels | with all | one core | all cores | left to the CPU |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  measure_systems_of("10,000 matrices: hitting, fidelity, T_mix; logits N(0, 1)", 10000, 1, 1.0,
                     mixing, threads, stream);
  measure_systems_of("the same, and times truncated at 100", 10000, 1, 1.0, exact, threads, stream);
  measure_systems_of("the same, logits N(0, 0.25)", 10000, 1, 0.5, exact, threads, stream);
  measure_systems_of("the same, logits N(0, 4)", 10000, 1, 2.0, exact, threads, stream);
  measure_systems_of("500 systems of 16 heads", 500, 16, 1.0, exact, threads, stream);
  measure_systems_of("500 systems of 16 heads, both conventions", 500, 16, 1.0, both, threads,
                     stream);
  fmt::print("\nmilliseconds, all subsets of 16 heads, fidelity and speed\n\n");
  fmt::print(
      "| what | kernels | with all | all cores | largest difference |\n|---|---|---|---|---|\n");
  SubsetOptions published;
  published.convention = convention_options(Convention::kPublished);
  measure_subsets_of("exact; logits N(0, 1)", 1.0, {}, threads, stream);
  measure_subsets_of("exact; logits N(0, 4)", 2.0, {}, threads, stream);
  measure_subsets_of("published; logits N(0, 1)", 1.0, published, threads, stream);
}

}  // namespace

int main(int argc, char** argv) try {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fmt::print(stderr, "gpu_small_metrics: no GPU on this machine\n");
    return 1;
  }
  run(argc > 1 ? std::atoi(argv[1]) : 0);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "gpu_small_metrics: {}\n", error.what());
  return 1;
}
