#include <fmt/core.h>

#include <memory>

#include "cli/attention_command.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/page_documents.h"
#include "cli/setting_option.h"
#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/heads_figure.h"
#include "synergraph/report/heads_report.h"

namespace synergraph::cli {
namespace {

struct HeadsArguments : AttentionCommand {
  HeadValueOptions head_values;
  LossSettings loss;
  StackSettings through;
  HeadTextSettings text;
};

constexpr const char* kHeadsAbout =
    "What each head adds to the attention graph: every subset of a layer's heads, which are "
    "redundant, and how few are enough";

constexpr const char* kHeadsDetails =
    "FILE is what analyze takes, attention or a checkpoint, or a graph with several heads.\n"
    "Every subset of up to 20 heads is measured; of more heads, random orders are. Shapley\n"
    "values share the value of all heads among them; interactions of pairs are positive\n"
    "where two heads complement each other, negative where one makes the other redundant.\n"
    "docs/heads.md explains the numbers and shows what they say of real models.\n\n"
    "Examples:\n"
    "  synergraph heads attention.npy --figure heads.svg\n"
    "  synergraph heads model.safetensors --task copy --samples 20 --json heads.json\n"
    "  synergraph heads maps.safetensors --stack --values fidelity\n"
    "  synergraph heads graph.txt --weights 1,2,1";

void run_heads(HeadsArguments& arguments) {
  const FigureOptions figure = arguments.check();
  arguments.through.check([](const char* key) { return option_name(key); });

  HeadsReport report;
  report.verbose = arguments.text.verbose;
  report.range = arguments.input.parse_range();
  report.convention = arguments.metrics.chosen_conventions().front();
  AttentionInput input = arguments.input.open(report.range, arguments.shared.local_rank());
  if (!input.head_names.empty()) arguments.metrics.options_of = graph_options;
  HeadValueOptions& options = arguments.head_values;
  options.convention = arguments.metrics.resolve(report.convention);
  options.values = ordered_values(options.values);
  options.execution.threads = arguments.metrics.execution.threads;
  if (!arguments.quiet) options.execution.progress.stream = stderr;
  report.head_names = input.head_names;
  report.token_names = input.token_names;
  StackOptions stack;
  if (arguments.through.follow) try {
      stack.token = followed_node(input.source->layers(), *arguments.through.follow);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", input_name(arguments.input.file), error.what()));
    }
  if (arguments.figure.wanted())
    check_heads_figure(input.source->layers(), options, arguments.through.stack, figure);
  const TokenNames names = arguments.page.read_names(input);

  stack.residual = arguments.through.residual.value_or(stack.residual);
  std::vector<std::string> also;
  const auto measure_layers = [&] {
    if (!arguments.page.wanted() || input.graph) return;
    arguments.input.describe(input, report);
    also = {layers_document(input, report, arguments.metrics, options.execution)};
  };
  const auto write = [&](HeadValues head_values, std::optional<StackAnalysis> through_layers) {
    report.head_values = std::move(head_values);
    report.stack = std::move(through_layers);
    arguments.input.describe(input, report);
    report.loss = losses_of_heads(*input.source, report.head_values.layer_values,
                                  arguments.loss.choice(), options.execution);
    if (arguments.shared.wanted()) measure_layers();
    const auto draw = [&] { draw_heads_figure(arguments.figure.file, report, figure); };
    arguments.write(report, draw, {"heads", {}, {}, also}, input, names);
  };
  if (arguments.shared.wanted()) {
    const SharedSamples how = arguments.sharing(input);
    return arguments.shared.run(options.execution, [&] {
      stack.execution = options.execution;
      return value_heads_shared(*input.source, input.weights, options,
                                arguments.through.stack ? std::optional(stack) : std::nullopt, how,
                                write);
    });
  }
  HeadValues head_values;
  std::optional<StackAnalysis> through_layers;
  run_until_stopped(options.execution, [&] {
    stack.execution = options.execution;
    if (arguments.through.stack)
      through_layers = analyse_stack(*input.source, input.weights, stack);
    head_values = value_heads(*input.source, input.weights, options);
    measure_layers();
  });
  write(std::move(head_values), std::move(through_layers));
}

}  // namespace

void add_heads_command(CLI::App& app) {
  auto arguments = std::make_shared<HeadsArguments>();
  CLI::App& command = *app.add_subcommand("heads", kHeadsAbout);
  command.footer(kHeadsDetails);
  arguments->input.add_to(command, true);
  arguments->metrics.options_of = convention_options;
  arguments->metrics.add_to(command);
  visit_settings(arguments->head_values, SettingOptions{command});
  visit_settings(arguments->loss, SettingOptions{command});
  visit_settings(arguments->through, SettingOptions{command});
  arguments->table.option = "--csv";
  arguments->add_outputs_to(command, "a row for every layer, value and head", "report",
                            "draw pruning curves and interactions by layer");
  visit_settings(arguments->text, SettingOptions{command});
  command.callback([arguments] { run_heads(*arguments); });
}

}  // namespace synergraph::cli
