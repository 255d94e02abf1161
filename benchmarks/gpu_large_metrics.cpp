// Time to measure large attention on a GPU: given in its memory, or as queries and keys.
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/device/cuda/cuda_metrics.h"
#include "synergraph/device/cuda/device_memory.h"

namespace {

using namespace synergraph;
using cuda::DeviceMemory;

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdU;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53U;
  return x ^ x >> 33U;
}

/// About normal: twelve uniform numbers of 5 bits each, in bfloat16.
std::uint16_t normal(std::uint64_t index, double spread) {
  std::uint64_t bits = mixed(index + 1);
  double sum = 0.0;
  for (int k = 0; k < 12; ++k, bits >>= 5U) sum += static_cast<double>(bits & 31U) + 0.5;
  const auto value = static_cast<float>((sum / 32.0 - 6.0) * spread);
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
}

std::vector<std::uint16_t> normals(std::size_t count, std::uint64_t seed, double spread) {
  std::vector<std::uint16_t> all(count);
  for (std::size_t k = 0; k < count; ++k) all[k] = normal(seed << 40U ^ k, spread);
  return all;
}

/// float32 rows of exp(x) of normal x with a chosen spread, softmaxed; each head shifted.
std::vector<float> given_rows(int tokens, double spread) {
  std::vector<float> all(static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens), 0.0F);
  std::vector<float> table(65536);
  for (std::size_t k = 0; k < table.size(); ++k)
    table[k] = std::exp(std::bit_cast<float>(static_cast<std::uint32_t>(normal(k, spread)) << 16U));
  for (int i = 0; i < tokens; ++i) {
    float* row = all.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(tokens);
    double sum = 0.0;
    for (int j = 0; j <= i; ++j) {
      const auto at = static_cast<std::uint64_t>(i) * 65537U + static_cast<std::uint64_t>(j);
      sum += row[j] = table[mixed(at) & 65535U];
    }
    for (int j = 0; j <= i; ++j) row[j] = static_cast<float>(row[j] / sum);
  }
  return all;
}

double seconds(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void report(const std::string& what, const std::function<BatchMetrics()>& work, int repeats) {
  std::size_t before = 0;
  std::size_t all = 0;
  cudaMemGetInfo(&before, &all);
  BatchMetrics found;
  std::vector<double> times;
  for (int k = 0; k < repeats; ++k) times.push_back(seconds([&] { found = work(); }));
  std::size_t after = 0;
  cudaMemGetInfo(&after, &all);
  const double first = times.front();
  std::sort(times.begin(), times.end());
  const HeadsMetrics& system = found.sequences[0][0];
  fmt::print(
      "{}: first {:.4f} s, median {:.4f} s, best {:.4f} s; {:.2f} GiB kept; head 0: T_mix {}, "
      "fidelity {:.6g} at {}, {} steps; all: T_mix {}, fidelity {:.6g}\n",
      what, first, times[times.size() / 2], times.front(),
      static_cast<double>(before - after) / 1073741824.0, system.heads[0].walk.mixing[0],
      system.heads[0].fidelity.minimax, system.heads[0].fidelity.minimax_time,
      system.heads[0].fidelity.steps, system.combined.walk.mixing[0],
      system.combined.fidelity.minimax);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Time to measure large attention on a GPU");
  int tokens = 8192;
  int heads = 32;
  int key_heads = 8;
  int width = 128;
  int repeats = 5;
  double spread = 1.0;
  bool made = false;
  app.add_option("--tokens", tokens);
  app.add_option("--heads", heads);
  app.add_option("--key-heads", key_heads);
  app.add_option("--width", width);
  app.add_option("--repeats", repeats);
  app.add_option("--spread", spread, "of scores");
  app.add_flag("--queries", made, "From queries and keys in bfloat16");
  CLI11_PARSE(app, argc, argv);

  const auto backend = cuda::make_cuda_metrics();
  const auto n = static_cast<std::size_t>(tokens);
  if (made) {
    const std::size_t each = n * static_cast<std::size_t>(width);
    const auto q = normals(each * static_cast<std::size_t>(heads), 1, spread);
    const auto k = normals(each * static_cast<std::size_t>(key_heads), 2, 1.0);
    DeviceMemory<std::uint16_t> queries(q.size());
    DeviceMemory<std::uint16_t> keys(k.size());
    queries.upload(q.data(), q.size(), nullptr);
    keys.upload(k.data(), k.size(), nullptr);
    cudaDeviceSynchronize();
    QueryKeyView view;
    view.queries = queries.data();
    view.keys = keys.data();
    view.type = FloatType::kBFloat16;
    view.samples = 1;
    view.heads = heads;
    view.key_heads = key_heads;
    view.tokens = tokens;
    view.width = width;
    const std::ptrdiff_t row = 2 * std::ptrdiff_t{width};
    view.query_strides = {row * tokens * heads, row * tokens, row};
    view.key_strides = {row * tokens * key_heads, row * tokens, row};
    view.scale = 1.0 / std::sqrt(width);
    report(
        fmt::format("{} heads, n = {}, queries and keys of {}", heads, tokens, width),
        [&] { return backend->measure(view, {}, {}, {}); }, repeats);
    return 0;
  }
  const std::vector<float> head = given_rows(tokens, spread);
  DeviceMemory<float> all(n * n * static_cast<std::size_t>(heads));
  for (int h = 0; h < heads; ++h)
    cudaMemcpy(all.data() + n * n * static_cast<std::size_t>(h), head.data(), n * n * sizeof(float),
               cudaMemcpyHostToDevice);
  const AttentionView view = attention_view(all.data(), 1, heads, tokens);
  report(
      fmt::format("{} heads, n = {}, float32", heads, tokens),
      [&] { return backend->measure(view, {}, {}, {}); }, repeats);
  return 0;
} catch (const Error& error) {
  fmt::print(stderr, "gpu_large_metrics: {}\n", error.what());
  return 1;
}
