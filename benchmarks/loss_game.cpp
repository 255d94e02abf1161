// How long the game on the loss takes: every subset of one layer's heads of the paper's model, in
// microseconds per subset and sequence, in GFLOP/s, and as a share of what the machine's cores do
// on matrix products that stay in cache. Such products run before and after the game: on a shared
// host their rate says what the cores gave meanwhile.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <exception>
#include <vector>

#include "benchmarks/products.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/loss_game.h"

namespace {

using namespace synergraph;

/// Products for a tenth of a second.
constexpr int kProducts = 6000;

/// Floating-point operations in the matrix products of one subset and sequence: the second matrix
/// of the MLP and the output, and all of the layers that follow. `counted` positions have a target.
double subset_flop(const ModelConfig& c, int layer, int counted) {
  const double mlp = 2.0 * c.width * c.hidden;
  const double output = 2.0 * c.width * c.vocabulary;
  if (layer + 1 == c.layers) return counted * (mlp + output);
  const double attention = 2.0 * (c.length + 1) * c.width;
  const double whole = 8.0 * c.width * c.width + 2.0 * mlp + attention;
  return c.length * (mlp + output + (c.layers - layer - 1) * whole);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Time of the game on the loss of the paper's model."};
  std::vector<int> all_heads = {8, 10};
  std::string task = "cycle";
  int sequences = 8;
  int layer = 3;
  int threads = 0;
  app.add_option("--heads", all_heads, "Numbers of heads");
  app.add_option("--task", task, "Task that draws the sequences");
  app.add_option("--sequences", sequences, "Sequences")->check(CLI::Range(1, 100000));
  app.add_option("--layer", layer, "Layer, from 0")->check(CLI::Range(0, 3));
  app.add_option("--threads", threads, "Threads (0: all)");
  CLI11_PARSE(app, argc, argv);
  if (threads <= 0) threads = default_thread_count();
  for (const int heads : all_heads) {
    ModelConfig config;
    config.heads = heads;
    config.width = (64 + heads - 1) / heads * heads;  // 64, unless the heads do not divide it
    Model model(config);
    initialise(model, 1);
    const Task& chosen = find_task(task);
    const Sequences inputs = random_inputs(chosen, 1, sequences, config.length, config.vocabulary);
    const Sequences answers = targets(chosen, inputs);
    const int counted_each = static_cast<int>(counted(answers.tokens) / sequences);
    LossGameOptions options;
    options.ablation = Ablation::kZero;
    options.execution.threads = threads;
    const double before = product_rate(threads, kProducts);
    const double start = seconds();
    const std::clock_t cpu_start = std::clock();
    const LossGame game = loss_game(model, inputs, answers, layer, options);
    const double time = seconds() - start;
    const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    const double products = (before + product_rate(threads, kProducts)) / 2.0;
    const double subsets = static_cast<double>(game.loss.size()) * sequences;
    const double flop = subset_flop(config, layer, counted_each);
    fmt::print(
        "{:2} heads, layer {}, width {}, {} subsets on {} sequences: {:.2f} s with {} threads, "
        "{:.2f} "
        "s of CPU time; a subset and sequence: {:.1f} us of a core, {:.2f} MFLOP; {:.0f} GFLOP/s, "
        "{:.0f} % of the {:.0f} on products\n",
        heads, layer, config.width, game.loss.size(), sequences, time, threads, cpu,
        cpu / subsets * 1e6, flop * 1e-6, subsets * flop / time * 1e-9,
        100.0 * subsets * flop / time * 1e-9 / products, products);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "loss_game: {}\n", error.what());
  return 1;
}
