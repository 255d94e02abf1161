#include <fmt/core.h>

#include <memory>

#include "cli/attention_input.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/metrics_options.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/page_options.h"
#include "cli/shared_samples_options.h"
#include "synergraph/report/layer_figure.h"
#include "synergraph/report/layer_report.h"
#include "synergraph/study/published.h"

namespace synergraph::cli {
namespace {

struct AnalyzeArguments {
  AttentionArguments input;
  MetricsArguments metrics;
  bool per_head = false;
  std::string per_sample;
  std::string json;
  FigureArguments figure;
  PageArguments page;
  bool quiet = false;
  SharedSamplesArguments shared;
};

constexpr const char* kAnalyzeAbout =
    "How fast and how faithfully each layer of attention moves information to the last token";

constexpr const char* kAnalyzeDetails =
    "FILE holds attention, saved from PyTorch, JAX or NumPy: (heads, n, n), (samples, heads, n, "
    "n),\n"
    "(layers, samples, heads, n, n) or what --axes says, in .npy, .npz, .safetensors or .pt; an\n"
    "archive may hold a tensor a layer. Or it is a checkpoint of a model with the paper's tensor\n"
    "names, which runs on --tokens or on a --task. docs/formats.md explains the columns of the\n"
    "table.\n\n"
    "Examples:\n"
    "  synergraph analyze attention.npy --per-head\n"
    "  synergraph analyze one-sequence.npy --axes layer,head,query,key\n"
    "  synergraph analyze maps.safetensors --layers 'attentions\\.[0-9]+$' --sink 63 --json -\n"
    "  synergraph analyze model.safetensors --task copy --samples 50 --figure layers.pdf\n"
    "  srun -n 64 synergraph analyze maps.npy --shard-dir /shared/maps --json maps.json\n"
    "  synergraph analyze attention.npy --page attention.html";

void run_analyze(const AnalyzeArguments& arguments) {
  const FigureOptions figure = arguments.figure.resolve();
  check_outputs({{"--figure", arguments.figure.file},
                 {"--per-sample", arguments.per_sample},
                 {"--json", arguments.json},
                 {"--page", arguments.page.file}},
                arguments.page.inputs(arguments.input.files()));
  if (arguments.figure.wanted()) check_figure(arguments.figure.file);
  const bool printed =
      to_standard_output({arguments.per_sample, arguments.json, arguments.page.file});
  arguments.shared.check();
  LayerReport report;
  report.range = arguments.input.parse_range();
  report.per_head = arguments.per_head;
  report.conventions = arguments.metrics.chosen_conventions();
  AnalysisOptions options;
  options.execution.threads = arguments.metrics.execution.threads;
  options.execution.memory = kAttentionMemory;
  if (!arguments.quiet) options.execution.progress.stream = stderr;
  options.conventions.clear();
  for (const Convention convention : report.conventions) {
    options.conventions.push_back(arguments.metrics.resolve(convention));
    options.conventions.back().per_head_walks = arguments.per_head || arguments.page.wanted();
  }

  const AttentionInput input = arguments.input.open(report.range, arguments.shared.local_rank());
  if (arguments.figure.wanted())
    check_layer_figure(input.source->layers(), report.conventions.size(), figure);
  const std::vector<std::string> names = arguments.page.read_names(input);
  const auto write = [&](Analysis analysis) {
    report.analysis = std::move(analysis);
    arguments.input.describe(input, report);
    if (arguments.figure.wanted()) draw_layer_figure(arguments.figure.file, report, figure);
    if (!arguments.per_sample.empty())
      write_output(arguments.per_sample, format_csv(csv_table(report)));
    if (!arguments.json.empty()) write_output(arguments.json, json_report(report));
    if (arguments.page.wanted()) {
      Page page{"analyze", input_title(arguments.input.file), json_report(report)};
      page.step_limit = arguments.metrics.step_limit;
      if (report.model && !report.task.empty() && has_published_size(*report.model))
        page.published = {{report.task, report.model->heads}};
      arguments.page.write(std::move(page), input, names);
    }
    if (!printed) print(format_report(report, output_columns()));
  };
  if (arguments.shared.wanted()) {
    const SharedSamples how = arguments.shared.resolve(
        arguments.input.files(),
        {arguments.figure.file, arguments.per_sample, arguments.json, arguments.page.file},
        input.device);
    return arguments.shared.run(options.execution, [&] {
      return analyse_shared(*input.source, input.weights, options, how, write);
    });
  }
  Analysis analysis;
  run_until_stopped(options.execution,
                    [&] { analysis = analyse(*input.source, input.weights, options); });
  write(std::move(analysis));
}

}  // namespace

void add_analyze_command(CLI::App& app) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App& command = *app.add_subcommand("analyze", kAnalyzeAbout);
  command.footer(kAnalyzeDetails);
  arguments->input.add_to(command);
  arguments->metrics.options_of = convention_options;
  arguments->metrics.add_to(command, true);
  const char* output = "Output";
  command
      .add_flag(
          "--per-head", arguments->per_head,
          "also measure each head alone, and the mixing synergy, as for --page, and show them")
      ->group(output);
  add_output(command, "--per-sample", arguments->per_sample,
             "write every sample's numbers as CSV; - for standard output instead of the table");
  add_output(command, "--json", arguments->json,
             "write everything as JSON; - for standard output instead of the table");
  arguments->figure.add_to(command, "draw speed and fidelity by layer", "layers");
  arguments->page.add_to(command, true);
  command.add_flag("--quiet", arguments->quiet, "no progress on stderr")->group(output);
  arguments->shared.add_to(command);
  command.callback([arguments] { run_analyze(*arguments); });
}

}  // namespace synergraph::cli
