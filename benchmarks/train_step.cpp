// How long one optimisation step of the paper's model takes on this machine: the median of many
// steps, in ms, in GFLOP/s, and as a share of what the machine's cores do on a matrix product that
// stays in cache. On a shared host a core may be half another guest's at any moment; such products
// also run between the steps, and their median says what the cores gave meanwhile. `--json` prints
// one object a line for scripts. On a GPU a timed call has many steps, as in training.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <vector>

#include "benchmarks/products.h"
#include "synergraph/core/parallel.h"
#include "synergraph/train/make_fleet.h"

namespace {

using namespace synergraph;

/// Products for about a millisecond.
constexpr int kProducts = 60;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
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

struct Timing {
  double best = 0.0;      ///< seconds a step
  double median = 0.0;    ///< seconds a step
  double products = 0.0;  ///< median GFLOP/s of the products between the steps
};

/// Each of `count` calls does what `work` says: `steps` steps.
Timing time_steps(Fleet& fleet, const std::vector<FleetWork>& work, int count, int steps,
                  int threads) {
  std::vector<double> times;
  std::vector<double> rates;
  for (int k = 0; k < count; ++k) {
    const double start = seconds();
    fleet.run(work);
    times.push_back((seconds() - start) / steps);
    rates.push_back(product_rate(threads, kProducts));
  }
  return {*std::min_element(times.begin(), times.end()), median(times), median(rates)};
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Time of one training step of the paper's model."};
  std::vector<int> heads = {1, 4, 8, 16};
  int threads = 0;
  int steps = 60;
  int models = 1;
  int batch = 50;
  double dropout = 0.1;
  std::string device = "cpu";
  std::string precision = "tf32";
  bool json = false;
  app.add_option("--heads", heads, "Numbers of heads");
  app.add_option("--threads", threads, "Threads (0: all)");
  app.add_option("--steps", steps,
                 "Timed calls, of which the median counts: a step, or many on a GPU")
      ->check(CLI::Range(1, 100000));
  app.add_option("--models", models, "Models of a fleet that do each step together")
      ->check(CLI::Range(1, 1000));
  app.add_option("--device", device, "Where: cpu or cuda");
  app.add_option("--precision", precision, "Of a GPU: tf32 or float32")
      ->check(CLI::IsMember(all_names<Precision>()));
  app.add_option("--batch", batch, "Sequences a step");
  app.add_option("--dropout", dropout, "Dropout rate");
  app.add_flag("--json", json, "One JSON object a line");
  CLI11_PARSE(app, argc, argv);
  if (threads <= 0) threads = default_thread_count();

  double peak = 0.0;
  for (int trial = 0; trial < 200; ++trial) peak = std::max(peak, product_rate(threads, kProducts));
  if (!json) fmt::print("{} threads; matrix products peak at {:.0f} GFLOP/s\n", threads, peak);
  for (const int count : heads) {
    ModelConfig config;
    config.heads = count;
    TrainingState state(config);
    initialise(state.model, 1);
    TrainingData data;
    data.inputs = data.targets = random_sequences(1, batch, config.length, config.vocabulary);
    const FleetSettings settings{config, {}, dropout, batch};
    const auto fleet =
        make_fleet(choose_device(device, *parse_name<Precision>(precision), {&settings, 1}),
                   settings, {.threads = threads});
    const int together = fleet->preferred_steps();
    std::vector<std::int32_t> rows(static_cast<std::size_t>(batch) *
                                   static_cast<std::size_t>(together));
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::int32_t>(k) % batch;
    std::vector<FleetWork> work;
    for (int k = 0; k < models; ++k) work.push_back({fleet->add(state, 1, data), rows});
    for (int k = 0; k < (together > 1 ? 1 : 5); ++k) fleet->run(work);
    const Timing time = time_steps(*fleet, work, steps, together, threads);
    const double rate = models * step_flop(config, batch) / time.median * 1e-9;
    if (json)
      fmt::print(
          "{{\"heads\": {}, \"threads\": {}, \"ms\": {:.3f}, \"best_ms\": {:.3f}, \"gflops\": "
          "{:.1f}, \"peak_gflops\": {:.1f}, \"products_gflops\": {:.1f}}}\n",
          count, threads, time.median * 1e3, time.best * 1e3, rate, peak, time.products);
    else
      fmt::print(
          "{:3} heads: {:6.2f} ms a step (best {:.2f}), {:5.1f} GFLOP/s: {:.0f} % of that peak, "
          "{:.0f} % of the products between the steps\n",
          count, time.median * 1e3, time.best * 1e3, rate, 100.0 * rate / peak,
          100.0 * rate / time.products);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "train_step: {}\n", error.what());
  return 1;
}
