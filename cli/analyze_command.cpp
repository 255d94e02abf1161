#include <fmt/core.h>

#include <memory>

#include "cli/attention_command.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/page_documents.h"
#include "synergraph/core/error.h"
#include "synergraph/report/analyze_figure.h"
#include "synergraph/report/analyze_report.h"
#include "synergraph/study/published.h"

namespace synergraph::cli {
namespace {

struct AnalyzeArguments : AttentionCommand {
  bool per_head = false;
  bool page_heads = false;  ///< the page has what heads are worth, too
};

constexpr const char* kAnalyzeAbout =
    "How fast and how faithfully each layer of attention moves information to the last token";

constexpr const char* kAnalyzeDetails =
    "FILE holds attention, saved from PyTorch, JAX or NumPy: (heads, n, n), (samples, heads, n, "
    "n),\n"
    "(layers, samples, heads, n, n) or what --axes says, in any format that inspect lists. An\n"
    "archive may hold one tensor per layer. Or FILE is a checkpoint of a model with the paper's\n"
    "tensor names, which runs on --tokens or on a --task. docs/formats.md explains the columns of\n"
    "the table.\n\n"
    "Examples:\n"
    "  synergraph analyze attention.npy --per-head\n"
    "  synergraph analyze one-sequence.npy --axes layer,head,query,key\n"
    "  synergraph analyze maps.safetensors --layers 'attentions\\.[0-9]+$' --sink 63 --json -\n"
    "  synergraph analyze model.safetensors --task copy --samples 50 --figure layers.pdf\n"
    "  srun -n 64 synergraph analyze maps.npy --shard-dir /shared/maps --json maps.json\n"
    "  synergraph analyze attention.npy --page attention.html";

void run_analyze(const AnalyzeArguments& arguments) {
  const FigureOptions figure = arguments.check();
  if (arguments.page_heads && arguments.shared.wanted())
    throw UsageError(
        "--page-heads and --shard-dir exclude each other. Run heads with --shard-dir and --page: "
        "its "
        "page shows both");
  AnalyzeReport report;
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
  const TokenNames names = arguments.page.read_names(input);
  std::vector<std::string> also;
  const auto write = [&](Analysis analysis) {
    report.analysis = std::move(analysis);
    arguments.input.describe(input, report);
    Page page{"analyze", {}, {}, also};
    if (report.model && !report.task.empty() && has_published_size(*report.model))
      page.published = {{report.task, report.model->heads}};
    const auto draw = [&] { draw_layer_figure(arguments.figure.file, report, figure); };
    arguments.write(report, draw, std::move(page), input, names);
  };
  if (arguments.shared.wanted()) {
    const SharedSamples how = arguments.sharing(input);
    return arguments.shared.run(options.execution, [&] {
      return analyse_shared(*input.source, input.weights, options, how, write);
    });
  }
  Analysis analysis;
  run_until_stopped(options.execution, [&] {
    analysis = analyse(*input.source, input.weights, options);
    if (!arguments.page_heads) return;
    arguments.input.describe(input, report);
    also = {heads_document(input, report, arguments.metrics, options.execution)};
  });
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
  command
      .add_flag(
          "--per-head", arguments->per_head,
          "also measure each head alone, and the mixing synergy, as for --page, and show them")
      ->group("Output");
  arguments->table.option = "--per-sample";
  arguments->add_outputs_to(command, "every sample's numbers", "table",
                            "draw speed and fidelity by layer");
  command
      .add_flag("--page-heads", arguments->page_heads,
                "add the results of the command heads (the values of the heads) to the page")
      ->needs("--page")
      ->group("Output");
  command.callback([arguments] { run_analyze(*arguments); });
}

}  // namespace synergraph::cli
