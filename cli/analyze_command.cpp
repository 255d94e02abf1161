
#include "cli/attention_command.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/page_documents.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/report/analyze_figure.h"
#include "synergraph/report/analyze_report.h"
#include "synergraph/study/published.h"

namespace synergraph::cli {
namespace {

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

void run_analyze(const CLI::App& app, AnalyzeSettings& settings) {
  const AttentionCommand command(app, settings);
  const FigureOptions figure = command.check();
  if (settings.page_heads && command.shared.wanted())
    throw UsageError(
        "--page-heads and --shard-dir exclude each other. Run heads with --shard-dir and --page: "
        "its page shows both");
  const MetricsSettings& metrics = settings.measured.metrics;
  AnalyzeReport report;
  report.range = command.input.token_range();
  report.per_head = settings.measured.per_head;
  report.conventions = metrics.convention.names;
  AnalysisOptions options = analysis_options(metrics, report.per_head || command.page.wanted(),
                                             false, settings.measured.backward);
  options.execution = command.execution(kAttentionMemory);
  options.device = settings.input.device;
  options.worker = command.shared.local_rank();

  const AttentionInput input = command.input.open(report.range, command.shared.local_rank());
  if (!settings.figure.figure.empty())
    check_layer_figure(input.source->layers(), report.conventions.size(), figure);
  const TokenNames names = command.page.read_names(input);
  std::vector<std::string> also;
  const auto write = [&](Analysis analysis) {
    report.analysis = std::move(analysis);
    command.input.describe(input, report);
    Page page{"analyze", {}, {}, also};
    if (report.model && !report.task.empty() && has_published_size(*report.model))
      page.published = {{report.task, report.model->heads}};
    const auto draw = [&] { draw_layer_figure(settings.figure.figure, report, figure); };
    command.write(report, draw, std::move(page), input, names);
  };
  if (command.shared.wanted()) {
    const SharedSamples how = command.sharing(input);
    return command.shared.run(options.execution, [&] {
      return analyse_shared(*input.source, input.weights, options, how, write);
    });
  }
  Analysis analysis;
  run_until_stopped(options.execution, [&] {
    analysis = analyse(*input.source, input.weights, options);
    if (!settings.page_heads) return;
    command.input.describe(input, report);
    also = {heads_document(input, report, metrics, options.execution)};
  });
  write(std::move(analysis));
}

}  // namespace

void add_analyze_command(CLI::App& app) {
  add_command<AnalyzeSettings>(app, "analyze", kAnalyzeAbout, kAnalyzeDetails, run_analyze);
}

}  // namespace synergraph::cli
