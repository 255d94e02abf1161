#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "cli/commands.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/page_options.h"
#include "cli/setting_option.h"
#include "synergraph/chain/monte_carlo.h"
#include "synergraph/core/error.h"
#include "synergraph/device/measure_on_device.h"
#include "synergraph/graph/generators.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/heads/measure.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/graph_figure.h"
#include "synergraph/report/graph_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kGraphAbout =
    "Mixing time and minimax fidelity of a feedforward graph, or of several heads on the same "
    "nodes";

constexpr const char* kGraphDetails =
    "The graph is a file (see docs/formats.md), one of the paper's two worked examples, or made "
    "by\n"
    "generators, one a head:\n"
    "  chain:N  complete:N  window:N:WIDTH  powers:N  star:N  random:N:PROBABILITY[:SEED]\n"
    "or families that docs/graphs.md defines; K, D and WINDOW may be log, 4log, sqrt, ...:\n"
    "  indegree:N:K[:SEED]  expander:N:D[:SEED]  poisson:N:P:K[:SEED]  fs:N:K[:RATIO[:SEED]]\n"
    "  fs-sparse:N:K[:RATIO[:SEED]]  fs-original:N  longformer:N:WINDOW:GLOBAL\n"
    "  bigbird:N:WINDOW:GLOBAL:RANDOM[:SEED]  dilated:N:WINDOW:STEP  power:N\n\n"
    "docs/formats.md explains the columns of the table.\n\n"
    "Examples:\n"
    "  synergraph graph --example 2 --figure diffusion.svg\n"
    "  synergraph graph --generate chain:12 --generate complete:12 --weights 1,3 --eps 0.25,0.01\n"
    "  synergraph graph heads.txt --json > heads.json";

MultiHeadGraph load_graph(const GraphSettings& settings) {
  const int sources = (settings.file.empty() ? 0 : 1) + (settings.example ? 1 : 0) +
                      (settings.generators.empty() ? 0 : 1);
  if (sources != 1) throw UsageError("graph: give one of FILE, --example or --generate");
  if (settings.no_self_loops && settings.generators.empty())
    throw UsageError("--no-self-loops goes with --generate; a file says 'self-loops off'");
  if (!settings.file.empty()) {
    return parse_graph_text(read_text(settings.file, kMostGraphBytes), input_name(settings.file));
  }
  if (settings.example) return worked_example(*settings.example);
  std::vector<GraphHead> heads;
  for (const std::string& generator : settings.generators)
    heads.push_back({generator, 1.0, generate_graph(generator, !settings.no_self_loops)});
  return multi_head_graph(std::move(heads));
}

std::vector<double> raw_weights(const GraphSettings& settings, const MultiHeadGraph& graph) {
  if (!settings.measured.weights.empty()) return settings.measured.weights;
  std::vector<double> raw;
  for (const GraphHead& head : graph.heads) raw.push_back(head.weight);
  return raw;
}

/// The heads' weights, normalised. The graph takes those asked for: what is written of it is what
/// is measured.
std::vector<double> weigh_heads(const GraphSettings& settings, MultiHeadGraph& graph) {
  const std::vector<double> raw = raw_weights(settings, graph);
  try {
    std::vector<double> weights = normalised_weights(raw, graph.heads.size());
    for (std::size_t h = 0; h < raw.size(); ++h) graph.heads[h].weight = raw[h];
    return weights;
  } catch (const InputError& error) {
    throw InputError(fmt::format(
        "{}: {}", settings.measured.weights.empty() ? input_name(settings.file) : "--weights",
        error.what()));
  }
}

MonteCarloEstimate sample(const std::vector<Head>& heads, const std::vector<double>& weights,
                          const MetricsOptions& options, const GraphSettings& settings) {
  const MonteCarloOptions sampling{
      .walks = *settings.monte_carlo, .cutoff = options.walk.cutoff, .seed = settings.seed};
  const Execution execution{.threads = settings.execution.threads};
  if (options.normalization == Normalization::kPublished)
    return simulate_published(combine_diffusion(heads, weights), sampling, execution);
  return simulate(combine_walk(heads, weights, options.normalization), sampling, execution);
}

/// One row a step: head, step, each node's signal.
Table curves_table(const std::vector<Head>& heads, const std::vector<double>& weights,
                   const std::vector<std::string>& node_names, int steps) {
  Table table{{"head", "step"}, {}};
  table.header.insert(table.header.end(), node_names.begin(), node_names.end());
  const auto add = [&](const std::string& name, const Matrix& diffusion) {
    const Matrix signal = signal_curves(diffusion, steps);
    for (int t = 0; t <= steps; ++t) {
      std::vector<std::string> row = {name, std::to_string(t)};
      for (int j = 0; j < signal.cols(); ++j) row.push_back(exact(signal(t, j)));
      table.rows.push_back(std::move(row));
    }
  };
  for (const Head& head : heads) add(head.name, head.diffusion);
  add("combined", combine_diffusion(heads, weights));
  return table;
}

/// Steps that show the minimax time, if it is not too far, and what follows.
int shown_steps(const Fidelity& combined) {
  constexpr int kLeast = 20;
  constexpr int kMost = 400;
  const double wanted = std::ceil(1.25 * combined.minimax_time);
  if (!std::isfinite(wanted) || wanted < kLeast) return kLeast;
  return wanted > kMost ? kMost : static_cast<int>(wanted);
}

void write_graph_page(const GraphSettings& settings, const MultiHeadGraph& graph,
                      const GraphReport& report) {
  Page page{"graph", input_title(settings.file), json_report(report)};
  if (settings.example) page.title = fmt::format("Worked example {}", *settings.example);
  if (!settings.generators.empty())
    page.title = fmt::format("{}", fmt::join(settings.generators, ", "));
  page.graph = format_graph_text(graph);
  write_page(settings.page, page);
}

MeasuringDevice device_of(const GraphSettings& settings, const MultiHeadGraph& graph) {
  AttentionLayer shape;
  shape.heads = static_cast<int>(graph.heads.size());
  shape.tokens = static_cast<int>(graph.node_names.size());
  return choose_measuring_device(settings.device, cpu_seconds(shape));
}

void run_graph(const GraphSettings& settings) {
  if (settings.json && settings.csv) throw UsageError("--json and --csv exclude each other");
  const FigureOptions figure = figure_options(settings.figure, settings.figure.figure_names);
  check_outputs({{"--curves", settings.curves},
                 {"--figure", settings.figure.figure},
                 {"--dot", settings.dot},
                 {"--text", settings.text},
                 {"--page", settings.page.page}},
                {{"FILE", settings.file}});
  if (!settings.figure.figure.empty()) check_figure(settings.figure.figure);
  const bool printed =
      to_standard_output({settings.curves, settings.dot, settings.text, settings.page.page,
                          settings.json || settings.csv ? "-" : ""});
  const MetricsSettings& metrics = settings.measured.metrics;
  MetricsOptions options = metrics.resolve(metrics.convention.names.front(), graph_options);
  options.backward = settings.measured.backward;
  options.fidelity.every_node = settings.json || !settings.page.page.empty();  // JSON lists them
  MultiHeadGraph graph = load_graph(settings);
  const std::vector<double> weights = weigh_heads(settings, graph);
  const std::vector<Head> heads =
      heads_of_graph(graph, settings.memory << 20U, ", or raise the limit with --memory");
  DiffusionFigureOptions drawing{settings.steps.value_or(0), graph.node_names, figure};
  if (!settings.figure.figure.empty()) check_diffusion_figure(heads, drawing);

  GraphReport report;
  report.node_names = graph.node_names;
  report.options = options;
  for (const Head& head : heads) report.head_names.push_back(head.name);
  report.weights = weights;
  const MeasuringDevice device = device_of(settings, graph);
  std::string measured_on;
  report.metrics = measure_heads_on(device, heads, weights, options,
                                    {.threads = settings.execution.threads}, measured_on);
  if (!settings.steps) drawing.steps = shown_steps(report.metrics.combined.fidelity);
  if (settings.monte_carlo) report.monte_carlo.push_back(sample(heads, weights, options, settings));

  if (!settings.curves.empty())
    write_output(settings.curves,
                 format_csv(curves_table(heads, weights, graph.node_names, drawing.steps)));
  if (!settings.figure.figure.empty())
    draw_diffusion_figure(settings.figure.figure, heads, weights, drawing);
  if (!settings.dot.empty()) write_output(settings.dot, format_dot(graph));
  if (!settings.text.empty()) write_output(settings.text, format_graph_text(graph));
  if (!settings.page.page.empty()) write_graph_page(settings, graph, report);

  if (settings.json)
    print(json_report(report));
  else if (settings.csv)
    print(format_csv(csv_table(report)));
  else if (!printed)
    print(format_report(report, output_columns()) +
          (measured_on.empty() ? "" : fmt::format("measured on       {}\n", measured_on)));
}

}  // namespace

void add_graph_command(CLI::App& app) {
  add_command<GraphSettings>(app, "graph", kGraphAbout, kGraphDetails, run_graph);
}

}  // namespace synergraph::cli
