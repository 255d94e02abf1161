#include <fmt/core.h>

#include <memory>

#include "cli/attention_command.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/number_option.h"
#include "cli/page_documents.h"
#include "synergraph/analysis/head_importance.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/importance_figure.h"
#include "synergraph/report/importance_report.h"

namespace synergraph::cli {
namespace {

struct HeadsArguments : AttentionCommand {
  std::vector<std::string> values = all_names<HeadValue>();
  ImportanceOptions importance;
  bool stack = false;
  std::optional<double> residual;
  std::optional<int> token;
};

constexpr const char* kHeadsAbout =
    "Which heads matter: every subset of a layer's heads, what each head adds, which are "
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

void add_measurement_options(CLI::App& command, HeadsArguments& arguments) {
  const char* group = "Measurement";
  ImportanceOptions& importance = arguments.importance;
  as_list(command.add_option("--values", arguments.values,
                             "what heads are worth: fidelity, speed or both, separated by commas"))
      ->check(CLI::IsMember(all_names<HeadValue>()))
      ->capture_default_str()
      ->group(group);
  add_number(command, "--keep", importance.keep,
             "share of the value of all heads that the smallest subset keeps", {0.0, 1.0})
      ->group(group);
  add_number(
      command, "--weight-samples", importance.weight_samples,
      "samples, the first, that the best weights are sought for, and the best sets of layers "
      "that are sampled; 0: no weights are sought",
      {0, 1000000})
      ->group(group);
  add_number(command, "--exact-heads", importance.exact_heads,
             "layers of more heads than this are sampled", {1, kMaxExactHeads})
      ->group(group);
  add_number(command, "--precision", importance.sampling.precision,
             "of sampled layers: the standard error wanted of a Shapley value, as a share of the "
             "value of all heads",
             {0.0, 1.0, true})
      ->group(group);
  add_number(command, "--orders", importance.sampling.max_permutations,
             "of sampled layers: orders of the heads that are drawn for a sample at most, in whole "
             "sets of "
             "balanced orders and at least eight of these",
             {1, 1000000000})
      ->group(group);
  const char* stack = "Through the layers";
  command
      .add_flag("--stack", arguments.stack,
                "also follow signals through all layers, each applied once")
      ->group(stack);
  add_number(command, "--residual", arguments.residual,
             "share that passes each layer beside its heads (default: 0.5)", {0.0, 1.0})
      ->group(stack);
  add_number(command, "--follow", arguments.token,
             "token whose way through the heads is shown, counted from the first that is analysed "
             "(default: the weakest of every sample)",
             {0})
      ->type_name("I")
      ->group(stack);
}

void run_heads(HeadsArguments& arguments) {
  const FigureOptions figure = arguments.check();
  if (!arguments.stack && (arguments.residual || arguments.token))
    throw UsageError("--residual and --follow go with --stack");

  ImportanceReport report;
  report.range = arguments.input.parse_range();
  report.convention = arguments.metrics.chosen_conventions().front();
  AttentionInput input = arguments.input.open(report.range, arguments.shared.local_rank());
  if (!input.head_names.empty()) arguments.metrics.options_of = graph_options;
  ImportanceOptions& options = arguments.importance;
  options.convention = arguments.metrics.resolve(report.convention);
  std::vector<HeadValue> values;
  for (const std::string& name : arguments.values)
    values.push_back(parse_name<HeadValue>(name).value());
  options.values = ordered_values(values);
  options.execution.threads = arguments.metrics.execution.threads;
  if (!arguments.quiet) options.execution.progress.stream = stderr;
  report.head_names = input.head_names;
  report.token_names = input.token_names;
  StackOptions stack;
  if (arguments.token) try {
      stack.token = followed_node(input.source->layers(), *arguments.token);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", input_name(arguments.input.file), error.what()));
    }
  if (arguments.figure.wanted())
    check_importance_figure(input.source->layers(), options, arguments.stack, figure);
  const TokenNames names = arguments.page.read_names(input);

  stack.residual = arguments.residual.value_or(stack.residual);
  std::vector<std::string> also;
  const auto measure_layers = [&] {
    if (!arguments.page.wanted() || input.graph) return;
    arguments.input.describe(input, report);
    also = {layers_document(input, report, arguments.metrics, options.execution)};
  };
  const auto write = [&](Importance importance, std::optional<StackAnalysis> through_layers) {
    report.importance = std::move(importance);
    report.stack = std::move(through_layers);
    arguments.input.describe(input, report);
    if (arguments.shared.wanted()) measure_layers();
    const auto draw = [&] { draw_importance_figure(arguments.figure.file, report, figure); };
    arguments.write(report, draw, {"heads", {}, {}, also}, input, names);
  };
  if (arguments.shared.wanted()) {
    const SharedSamples how = arguments.sharing(input);
    return arguments.shared.run(options.execution, [&] {
      stack.execution = options.execution;
      return head_importance_shared(*input.source, input.weights, options,
                                    arguments.stack ? std::optional(stack) : std::nullopt, how,
                                    write);
    });
  }
  Importance importance;
  std::optional<StackAnalysis> through_layers;
  run_until_stopped(options.execution, [&] {
    stack.execution = options.execution;
    if (arguments.stack) through_layers = analyse_stack(*input.source, input.weights, stack);
    importance = head_importance(*input.source, input.weights, options);
    measure_layers();
  });
  write(std::move(importance), std::move(through_layers));
}

}  // namespace

void add_heads_command(CLI::App& app) {
  auto arguments = std::make_shared<HeadsArguments>();
  CLI::App& command = *app.add_subcommand("heads", kHeadsAbout);
  command.footer(kHeadsDetails);
  arguments->input.add_to(command, true);
  arguments->metrics.options_of = convention_options;
  arguments->metrics.add_to(command);
  command.get_option("--normalization")
      ->description(
          "how heads become a walk: per-head (the theory's), pooled, or published (default: "
          "pooled, "
          "of graphs per-head; with --convention published: published)");
  add_measurement_options(command, *arguments);
  arguments->table.option = "--csv";
  arguments->add_outputs_to(command, "a row for every layer, value and head", "report",
                            "draw pruning curves and interactions by layer");
  command.callback([arguments] { run_heads(*arguments); });
}

}  // namespace synergraph::cli
