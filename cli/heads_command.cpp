#include <fmt/core.h>

#include "cli/attention_command.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/page_documents.h"
#include "cli/setting_option.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/heads_figure.h"
#include "synergraph/report/heads_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kHeadsAbout =
    "What each head adds to the attention graph: every subset of a layer's heads, which are "
    "redundant, and how few are enough";

constexpr const char* kHeadsDetails =
    "FILE is what analyze takes, attention or a checkpoint, or a graph with several heads.\n"
    "Layers of up to 20 heads: every subset is measured. Larger layers: random orders of\n"
    "heads are sampled. The Shapley values of a layer sum to the value of all its heads.\n"
    "The interaction of a pair is positive if the two heads complement each other, and\n"
    "negative if one makes the other redundant. docs/heads.md explains the numbers.\n\n"
    "Examples:\n"
    "  synergraph heads attention.npy --figure heads.svg\n"
    "  synergraph heads model.safetensors --task copy --samples 20 --json heads.json\n"
    "  synergraph heads maps.safetensors --stack --values fidelity\n"
    "  synergraph heads attention.npy --values fidelity --from 5 --to 20\n"
    "  synergraph heads graph.txt --weights 1,2,1";

void run_heads(const CLI::App& app, HeadsCommandSettings& settings) {
  const AttentionCommand command(app, settings, true);
  const FigureOptions figure = command.check();
  const StackSettings& through = settings.measured.through;
  const EdgeSettings& edges = settings.measured.edges;
  through.check(edges);
  const LossOfHeadsOptions loss = settings.measured.loss.options();
  const MetricsSettings& metrics = settings.measured.metrics;

  HeadsReport report;
  report.verbose = settings.measured.text.verbose;
  report.range = command.input.token_range();
  report.convention = metrics.convention.names.front();
  const AttentionInput input = command.input.open(report.range, command.shared.local_rank());
  require_losses(input.attention ? *input.attention : *input.source, loss.choice);
  HeadValueOptions options = settings.measured.value_options(!input.head_names.empty());
  options.execution = command.execution(options.execution.memory);
  options.device = settings.input.device;
  options.worker = command.shared.local_rank();
  report.head_names = input.head_names;
  report.token_names = input.token_names;
  StackOptions stack = through.options(metrics.from);
  if (through.follow) try {
      stack.token = followed_node(input.source->layers(), *through.follow);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", input_name(settings.input.file), error.what()));
    }
  const std::string& drawn = settings.figure.figure;
  if (!drawn.empty()) check_heads_figure(input.source->layers(), options, through.stack, figure);
  const TokenNames names = command.page.read_names(input);

  const bool rollout = through.method == StackMethod::kRollout;
  const LayerWeights equal = uniform_weights(input.source->layers());
  const LayerWeights& stack_weights = rollout ? equal : input.weights;
  std::vector<std::string> also;
  const auto measure_layers = [&] {
    if (!command.page.wanted() || input.graph) return;
    command.input.describe(input, report);
    also = {layers_document(input, report, metrics, options.execution)};
  };
  const auto write = [&](HeadValues head_values, std::optional<StackAnalysis> through_layers) {
    report.head_values = std::move(head_values);
    report.stack = std::move(through_layers);
    command.input.describe(input, report);
    if (!edges.moved()) report.moved = moved_shares(*input.source, options.execution);
    // The loss is of the model, whatever its edges are.
    report.loss = losses_of_heads(input.attention ? *input.attention : *input.source,
                                  report.head_values, loss, options.execution);
    if (command.shared.wanted()) measure_layers();
    const auto draw = [&] { draw_heads_figure(drawn, report, figure); };
    command.write(report, draw, {"heads", {}, {}, also}, input, names);
  };
  if (command.shared.wanted()) {
    const SharedSamples how = command.sharing(input);
    return command.shared.run(options.execution, [&] {
      stack.execution = options.execution;
      return value_heads_shared(*input.source, input.weights, options,
                                through.stack ? std::optional(stack) : std::nullopt, stack_weights,
                                how, write);
    });
  }
  HeadValues head_values;
  std::optional<StackAnalysis> through_layers;
  run_until_stopped(options.execution, [&] {
    stack.execution = options.execution;
    if (through.stack) through_layers = analyse_stack(*input.source, stack_weights, stack);
    head_values = value_heads(*input.source, input.weights, options);
    measure_layers();
  });
  write(std::move(head_values), std::move(through_layers));
}

}  // namespace

void add_heads_command(CLI::App& app) {
  add_command<HeadsCommandSettings>(app, "heads", kHeadsAbout, kHeadsDetails, run_heads);
}

}  // namespace synergraph::cli
