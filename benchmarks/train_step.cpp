// How long one optimisation step of the paper's model takes on this machine: the median of many
// steps, in ms, in GFLOP/s, and as a share of what the machine's cores do on a matrix product that
// stays in cache. `--json` prints one object a line for scripts.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <vector>

#include "synergraph/core/parallel.h"
#include "synergraph/model/gemm.h"
#include "synergraph/train/step.h"

namespace {

using namespace synergraph;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// GFLOP/s of all threads together on 96 x 96 x 96 products.
double gemm_peak(int threads) {
  constexpr int kSize = 96;
  constexpr int kRepeats = 2000;
  const double flop = 2.0 * kSize * kSize * kSize * kRepeats;
  std::vector<double> rates;
  for (int trial = 0; trial < 15; ++trial) {
    std::vector<double> elapsed(static_cast<std::size_t>(threads));
    parallel_for(elapsed.size(), threads, [&](std::size_t index, int) {
      AlignedVector<float> a(kSize * kSize, 1.0F);
      AlignedVector<float> b(kSize * kSize, 1.0F);
      AlignedVector<float> c(kSize * kSize, 0.0F);
      const double start = seconds();
      for (int k = 0; k < kRepeats; ++k)
        multiply({.rows = kSize,
                  .cols = kSize,
                  .depth = kSize,
                  .a = a.data(),
                  .a_stride = kSize,
                  .b = b.data(),
                  .b_stride = kSize,
                  .c = c.data(),
                  .c_stride = kSize});
      elapsed[index] = seconds() - start;
    });
    double rate = 0.0;
    for (const double time : elapsed) rate += flop / time * 1e-9;
    rates.push_back(rate);
  }
  return *std::max_element(rates.begin(), rates.end());
}

/// Floating-point operations of one step: every linear map three times (forward, and the gradients
/// of its input and weight), and six products over the causal triangle in every layer.
double step_flop(const ModelConfig& c, int batch) {
  const double tokens = static_cast<double>(batch) * c.length;
  const double layer = 4.0 * c.width * c.width + 2.0 * c.width * c.hidden;
  const double linear =
      6.0 * tokens * (c.layers * layer + static_cast<double>(c.width) * c.vocabulary);
  return linear + 6.0 * 2.0 * tokens * (c.length + 1) / 2.0 * c.width * c.layers;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Time of one training step of the paper's model."};
  std::vector<int> heads = {1, 4, 8, 16};
  int threads = 0;
  int steps = 60;
  int batch = 50;
  double dropout = 0.1;
  bool json = false;
  app.add_option("--heads", heads, "Numbers of heads");
  app.add_option("--threads", threads, "Threads (0: all)");
  app.add_option("--steps", steps, "Timed steps, of which the median counts")
      ->check(CLI::Range(1, 100000));
  app.add_option("--batch", batch, "Sequences a step");
  app.add_option("--dropout", dropout, "Dropout rate");
  app.add_flag("--json", json, "One JSON object a line");
  CLI11_PARSE(app, argc, argv);
  if (threads <= 0) threads = default_thread_count();

  const double peak = gemm_peak(threads);
  if (!json) fmt::print("{} threads, matrix products {:.0f} GFLOP/s\n", threads, peak);
  for (const int count : heads) {
    ModelConfig config;
    config.heads = count;
    StepOptions options;
    options.dropout = dropout;
    TrainingState state(config);
    initialise(state.model, 1);
    const Sequences inputs = random_sequences(1, batch, config.length, config.vocabulary);
    const auto step = make_cpu_step(config, options, threads);
    step->load(state);
    for (int k = 0; k < 5; ++k) step->run(inputs, inputs);
    std::vector<double> times;
    for (int k = 0; k < steps; ++k) {
      const double start = seconds();
      step->run(inputs, inputs);
      times.push_back(seconds() - start);
    }
    const double time = median(times);
    const double rate = step_flop(config, batch) / time * 1e-9;
    if (json)
      fmt::print(
          "{{\"heads\": {}, \"threads\": {}, \"ms\": {:.3f}, \"gflops\": {:.1f}, \"share\": "
          "{:.3f}}}\n",
          count, threads, time * 1e3, rate, rate / peak);
    else
      fmt::print(
          "{:3} heads: {:7.2f} ms a step (best {:.2f}), {:6.1f} GFLOP/s, {:4.1f} % of matrix "
          "products\n",
          count, time * 1e3, *std::min_element(times.begin(), times.end()) * 1e3, rate,
          100.0 * rate / peak);
  }
}
