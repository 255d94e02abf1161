#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/metrics_options.h"
#include "cli/number_option.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/page_options.h"
#include "synergraph/chain/monte_carlo.h"
#include "synergraph/core/error.h"
#include "synergraph/graph/generators.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/heads/measure.h"
#include "synergraph/report/graph_figure.h"
#include "synergraph/report/graph_report.h"

namespace synergraph::cli {
namespace {

struct GraphArguments {
  std::string file;
  int example = 0;
  std::vector<std::string> generators;
  bool no_self_loops = false;
  std::string weights;
  MetricsArguments metrics;
  int monte_carlo = 0;
  std::uint64_t seed = 1;
  std::size_t memory = WorkingMemory().bytes() >> 20U;
  bool json = false;
  bool csv = false;
  std::optional<int> steps;
  std::string curves;
  FigureArguments figure;
  std::string dot;
  std::string text;
  PageArguments page;
};

constexpr const char* kGraphAbout =
    "Mixing time and minimax fidelity of a feedforward graph, or of several heads on the same "
    "nodes";

constexpr const char* kGraphDetails =
    "The graph is a file (see docs/formats.md), one of the paper's two worked examples, or made "
    "by\n"
    "generators, one a head:\n"
    "  chain:N  complete:N  window:N:WIDTH  powers:N  star:N  random:N:PROBABILITY[:SEED]\n\n"
    "docs/formats.md explains the columns of the table.\n\n"
    "Examples:\n"
    "  synergraph graph --example 2 --figure diffusion.svg\n"
    "  synergraph graph --generate chain:12 --generate complete:12 --weights 1,3 --eps 0.25,0.01\n"
    "  synergraph graph heads.txt --json > heads.json";

MultiHeadGraph load_graph(const GraphArguments& arguments) {
  const int sources = (arguments.file.empty() ? 0 : 1) + (arguments.example == 0 ? 0 : 1) +
                      (arguments.generators.empty() ? 0 : 1);
  if (sources != 1) throw UsageError("graph: give one of FILE, --example or --generate");
  if (arguments.no_self_loops && arguments.generators.empty())
    throw UsageError("--no-self-loops goes with --generate; a file says 'self-loops off'");
  if (!arguments.file.empty()) {
    return parse_graph_text(read_text(arguments.file, kMostGraphBytes), input_name(arguments.file));
  }
  if (arguments.example != 0) return worked_example(arguments.example);
  std::vector<GraphHead> heads;
  for (const std::string& generator : arguments.generators)
    heads.push_back({generator, 1.0, generate_graph(generator, !arguments.no_self_loops)});
  return multi_head_graph(std::move(heads));
}

std::vector<double> raw_weights(const GraphArguments& arguments, const MultiHeadGraph& graph) {
  if (!arguments.weights.empty()) return parse_numbers(arguments.weights, "--weights");
  std::vector<double> raw;
  for (const GraphHead& head : graph.heads) raw.push_back(head.weight);
  return raw;
}

/// The heads' weights, normalised. The graph takes those asked for: what is written of it is what
/// is measured.
std::vector<double> weigh_heads(const GraphArguments& arguments, MultiHeadGraph& graph) {
  const std::vector<double> raw = raw_weights(arguments, graph);
  try {
    std::vector<double> weights = normalised_weights(raw, graph.heads.size());
    for (std::size_t h = 0; h < raw.size(); ++h) graph.heads[h].weight = raw[h];
    return weights;
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: {}", arguments.weights.empty() ? input_name(arguments.file) : "--weights",
                    error.what()));
  }
}

MonteCarloEstimate sample(const std::vector<Head>& heads, const std::vector<double>& weights,
                          const MetricsOptions& options, const GraphArguments& arguments) {
  const MonteCarloOptions sampling{
      .walks = arguments.monte_carlo, .cutoff = options.walk.cutoff, .seed = arguments.seed};
  const Execution& execution = arguments.metrics.execution;
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

void write_page(const GraphArguments& arguments, const MultiHeadGraph& graph,
                const GraphReport& report) {
  Page page{"graph", input_title(arguments.file), json_report(report)};
  if (arguments.example != 0) page.title = fmt::format("Worked example {}", arguments.example);
  if (!arguments.generators.empty())
    page.title = fmt::format("{}", fmt::join(arguments.generators, ", "));
  page.graph = format_graph_text(graph);
  arguments.page.write(page);
}

void run_graph(const GraphArguments& arguments) {
  if (arguments.json && arguments.csv) throw UsageError("--json and --csv exclude each other");
  const FigureOptions figure = arguments.figure.resolve();
  check_outputs({{"--curves", arguments.curves},
                 {"--figure", arguments.figure.file},
                 {"--dot", arguments.dot},
                 {"--text", arguments.text},
                 {"--page", arguments.page.file}},
                {{"FILE", arguments.file}});
  if (arguments.figure.wanted()) check_figure(arguments.figure.file);
  const bool printed =
      to_standard_output({arguments.curves, arguments.dot, arguments.text, arguments.page.file,
                          arguments.json || arguments.csv ? "-" : ""});
  MetricsOptions options =
      arguments.metrics.resolve(arguments.metrics.chosen_conventions().front());
  options.fidelity.every_node = arguments.json || arguments.page.wanted();  // JSON lists them
  MultiHeadGraph graph = load_graph(arguments);
  const std::vector<double> weights = weigh_heads(arguments, graph);
  const std::vector<Head> heads =
      heads_of_graph(graph, arguments.memory << 20U, ", or raise the limit with --memory");
  DiffusionFigureOptions drawing{arguments.steps.value_or(0), graph.node_names, figure};
  if (arguments.figure.wanted()) check_diffusion_figure(heads, drawing);

  GraphReport report;
  report.node_names = graph.node_names;
  report.options = options;
  for (const Head& head : heads) report.head_names.push_back(head.name);
  report.weights = weights;
  report.metrics = measure_heads(heads, weights, options, arguments.metrics.execution);
  if (!arguments.steps) drawing.steps = shown_steps(report.metrics.combined.fidelity);
  if (arguments.monte_carlo > 0)
    report.monte_carlo.push_back(sample(heads, weights, options, arguments));

  if (!arguments.curves.empty())
    write_output(arguments.curves,
                 format_csv(curves_table(heads, weights, graph.node_names, drawing.steps)));
  if (arguments.figure.wanted())
    draw_diffusion_figure(arguments.figure.file, heads, weights, drawing);
  if (!arguments.dot.empty()) write_output(arguments.dot, format_dot(graph));
  if (!arguments.text.empty()) write_output(arguments.text, format_graph_text(graph));
  if (arguments.page.wanted()) write_page(arguments, graph, report);

  if (arguments.json)
    print(json_report(report));
  else if (arguments.csv)
    print(format_csv(csv_table(report)));
  else if (!printed)
    print(format_report(report, output_columns()));
}

}  // namespace

void add_graph_command(CLI::App& app) {
  auto arguments = std::make_shared<GraphArguments>();
  CLI::App& command = *app.add_subcommand("graph", kGraphAbout);
  command.footer(kGraphDetails);
  const char* input = "Input";
  command.add_option("FILE", arguments->file, "a graph in the text format; - for standard input")
      ->group(input);
  add_number(command, "--example", arguments->example, "the paper's worked example, 1 or 2", {1, 2})
      ->default_str("")
      ->group(input);
  command
      .add_option("--generate", arguments->generators,
                  "a generator; give it again for further heads")
      ->group(input)
      ->allow_extra_args(false);
  command.add_flag("--no-self-loops", arguments->no_self_loops, "generators leave out self-loops")
      ->group(input);
  command
      .add_option("--weights", arguments->weights,
                  "head weights, separated by commas (default: the file's, or equal)")
      ->group(input);
  arguments->metrics.add_to(command);
  add_number(command, "--monte-carlo", arguments->monte_carlo,
             "also sample this many walks from every node, to compare with the exact mean",
             {2, 100000000})
      ->default_str("")
      ->group("Measurement");
  add_number(command, "--seed", arguments->seed, "seed of the sampled walks")->group("Measurement");
  add_number(command, "--memory", arguments->memory,
             "limit on the memory for the matrices of the graph, in MiB",
             {1, std::size_t{1} << 30U})
      ->group("Measurement");
  const char* output = "Output";
  command.add_flag("--json", arguments->json, "print everything as JSON")->group(output);
  command.add_flag("--csv", arguments->csv, "print the table as CSV")->group(output);
  add_output(command, "--curves", arguments->curves,
             "write the signal curves as CSV; - for standard output instead of the table");
  arguments->figure.add_to(command, "draw the diffusion figure", "heads");
  add_number(
      command, "--steps", arguments->steps,
      "diffusion steps in curves and figure (default: 20, or as many as show the minimax time "
      "of all heads together, up to 400)",
      {1, 1000000})
      ->group(output);
  add_output(
      command, "--dot", arguments->dot,
      "write the graph in Graphviz's DOT language; - for standard output instead of the table");
  add_output(command, "--text", arguments->text,
             "write the graph in the text format; - for standard output instead of the table");
  arguments->page.add_to(command);
  command.callback([arguments] { run_graph(*arguments); });
}

}  // namespace synergraph::cli
