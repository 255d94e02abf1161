// How long the game on the loss takes: every subset of the heads of layers of the paper's model, in
// microseconds per subset and sequence and in FLOP/s. On the CPU also as a share of what the
// machine's cores do on matrix products that stay in cache. Such products run before and after the
// game: on a shared host their rate says what the cores gave meanwhile. On a GPU, some subsets are
// compared with models on the CPU whose heads were removed.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <exception>
#include <vector>

#include "benchmarks/products.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/loss_game.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_loss_games.h"

namespace {

using namespace synergraph;

/// Products for a tenth of a second.
constexpr int kProducts = 6000;

struct Operations {
  double mlp_matrix;  ///< of a matrix of the MLP, for a position
  double output;
  double layer;  ///< a whole one

  explicit Operations(const ModelConfig& c)
      : mlp_matrix(2.0 * c.width * c.hidden),
        output(2.0 * c.width * c.vocabulary),
        layer(8.0 * c.width * c.width + 2.0 * mlp_matrix + 2.0 * (c.length + 1) * c.width) {}
};

/// Floating-point operations in the matrix products of one subset and sequence on the CPU: the
/// second matrix of the MLP and the output, and all of the layers that follow. `counted` positions
/// have a target.
double subset_flop(const ModelConfig& c, int layer, int counted) {
  const Operations of(c);
  if (layer + 1 == c.layers) return counted * (of.mlp_matrix + of.output);
  return c.length * (of.mlp_matrix + of.output + (c.layers - layer - 1) * of.layer);
}

/// The same on a GPU: both matrices of the MLP, at all positions.
double gpu_subset_flop(const ModelConfig& c, int layer) {
  const Operations of(c);
  return c.length * (2.0 * of.mlp_matrix + of.output + (c.layers - layer - 1) * of.layer);
}

struct Played {
  Model model;
  Sequences inputs;
  Sequences answers;

  Played(const ModelConfig& config, const Task& task, int sequences) : model(config) {
    initialise(model, 1);
    inputs = random_inputs(task, 1, sequences, config.length, config.vocabulary);
    answers = targets(task, inputs);
  }
  double subsets() const { return std::exp2(model.config().heads) * inputs.count; }
};

void play_on_cpu(const Played& played, int layer, int threads) {
  const ModelConfig& config = played.model.config();
  const int counted_each = static_cast<int>(counted(played.answers.tokens) / played.inputs.count);
  LossGameOptions options;
  options.ablation = Ablation::kZero;
  options.execution.threads = threads;
  const double before = product_rate(threads, kProducts);
  const double start = seconds();
  const std::clock_t cpu_start = std::clock();
  loss_game(played.model, played.inputs, played.answers, layer, options);
  const double time = seconds() - start;
  const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const double products = (before + product_rate(threads, kProducts)) / 2.0;
  const double flop = subset_flop(config, layer, counted_each);
  const double rate = played.subsets() * flop / time * 1e-9;
  fmt::print(
      "{:2} heads, layer {}, width {}, {} subsets on {} sequences: {:.2f} s with {} threads, "
      "{:.2f} "
      "s of CPU time; a subset and sequence: {:.1f} us of a core, {:.2f} MFLOP; {:.0f} GFLOP/s, "
      "{:.0f} % of the {:.0f} on products\n",
      config.heads, layer, config.width, 1 << config.heads, played.inputs.count, time, threads, cpu,
      cpu / played.subsets() * 1e6, flop * 1e-6, rate, 100.0 * rate / products, products);
}

/// The largest relative distance of a game by zero ablation from models without columns of the
/// projection, on `checks` subsets.
double distance_from_cpu(const Played& played, int layer, const LossGame& game, int checks) {
  const ModelConfig& config = played.model.config();
  const int head_width = config.width / config.heads;
  double furthest = 0.0;
  for (int k = 0; k < checks; ++k) {
    const std::size_t subset = (game.loss.size() - 1) * static_cast<std::size_t>(k) /
                               static_cast<std::size_t>(std::max(1, checks - 1));
    Model without = played.model;
    float* projection = without.tensor(fmt::format("layers.{}.attn.out_proj.weight", layer));
    for (int row = 0; row < config.width; ++row)
      for (int column = 0; column < config.width; ++column)
        if ((subset >> (column / head_width) & 1U) == 0)
          projection[row * config.width + column] = 0.0F;
    const double expected = evaluate(without, played.inputs, played.answers).loss;
    furthest = std::max(furthest, std::abs(game.loss[subset] - expected) / expected);
  }
  return furthest;
}

void play_on_gpu(const Played& played, const std::vector<int>& layers, const Device& device,
                 int checks) {
  const ModelConfig& config = played.model.config();
  const auto games = loss_games_factory(device, played.model)();
  // Loads the kernels.
  games->control(played.inputs, played.answers, Ablation::kZero, {});
  double all = 0.0;
  double all_flop = 0.0;
  for (const int layer : layers) {
    LossGameOptions options;
    options.ablation = Ablation::kZero;
    const double start = seconds();
    const LossGame game = games->play(played.inputs, played.answers, layer, options);
    const double time = seconds() - start;
    const double flop = gpu_subset_flop(config, layer);
    all += time;
    all_flop += played.subsets() * flop;
    fmt::print(
        "{:2} heads, layer {}, width {}, {} subsets on {} sequences: {:.2f} s; a subset and "
        "sequence: {:.3f} us, {:.2f} MFLOP; {:.1f} TFLOP/s; at most {:.1e} of the loss from the "
        "CPU's on {} subsets\n",
        config.heads, layer, config.width, game.loss.size(), played.inputs.count, time,
        time / played.subsets() * 1e6, flop * 1e-6, played.subsets() * flop / time * 1e-12,
        distance_from_cpu(played, layer, game, checks), checks);
  }
  fmt::print("{:2} heads, {} layers on {}: {:.2f} s, {:.0f} TFLOP, {:.1f} TFLOP/s\n", config.heads,
             layers.size(), describe(device), all, all_flop * 1e-12, all_flop / all * 1e-12);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Time of the game on the loss of the paper's model."};
  std::vector<int> all_heads = {8, 10};
  std::string task = "cycle";
  std::string device_name = "cpu";
  int sequences = 8;
  std::vector<int> layers = {3};
  int threads = 0;
  int checks = 9;
  app.add_option("--heads", all_heads, "Numbers of heads");
  app.add_option("--task", task, "Task that draws the sequences");
  app.add_option("--sequences", sequences, "Sequences")->check(CLI::Range(1, 100000));
  app.add_option("--layer", layers, "Layers, from 0")->check(CLI::Range(0, 3));
  app.add_option("--threads", threads, "Threads (0: all)");
  app.add_option("--device", device_name, "cpu, cuda or auto");
  app.add_option("--checks", checks, "Subsets that a GPU's game is compared on")
      ->check(CLI::Range(0, 1000));
  CLI11_PARSE(app, argc, argv);
  if (threads <= 0) threads = default_thread_count();
  for (const int heads : all_heads) {
    ModelConfig config;
    config.heads = heads;
    config.width = (64 + heads - 1) / heads * heads;  // 64, unless the heads do not divide it
    const Device device = choose_evaluating(device_name, config);
    const Played played(config, find_task(task), sequences);
    if (device.kind == DeviceKind::kCuda)
      play_on_gpu(played, layers, device, checks);
    else
      for (const int layer : layers) play_on_cpu(played, layer, threads);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "loss_game: {}\n", error.what());
  return 1;
}
