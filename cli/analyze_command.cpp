#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/metrics_options.h"
#include "cli/number_option.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "synergraph/analysis/attention_file.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/error.h"
#include "synergraph/model/load_model.h"
#include "synergraph/report/layer_figure.h"
#include "synergraph/report/layer_report.h"
#include "synergraph/train/data.h"

namespace synergraph::cli {
namespace {

struct AnalyzeArguments {
  std::string file;
  std::string layers;
  std::string axes;
  std::string tokens;
  std::string task;
  std::optional<int> samples;
  std::optional<std::uint64_t> seed;
  int heads = 0;
  std::string weights;
  std::string projections;
  std::optional<std::int64_t> sink;
  std::string range;
  std::optional<double> row_tolerance;
  MetricsArguments metrics;
  bool per_head = false;
  std::string per_sample;
  std::string json;
  FigureArguments figure;
  bool quiet = false;
};

constexpr const char* kAbout =
    "How fast and how faithfully each layer of attention moves information to the last token";

constexpr const char* kDetails =
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
    "  synergraph analyze model.safetensors --task copy --samples 50 --figure layers.pdf";

/// A token position or an end of a range.
std::int64_t parse_position(const std::string& text, const char* option) {
  return parse_option<std::int64_t>(option, text, {0});
}

TokenRange parse_range(const AnalyzeArguments& arguments) {
  TokenRange range;
  if (!arguments.range.empty()) {
    const std::size_t colon = arguments.range.find(':');
    if (colon == std::string::npos)
      throw UsageError(fmt::format("--range: expected A:B, got '{}'", arguments.range));
    const std::string begin = arguments.range.substr(0, colon);
    const std::string end = arguments.range.substr(colon + 1);
    if (!begin.empty()) range.begin = parse_position(begin, "--range");
    if (!end.empty()) range.end = parse_position(end, "--range");
    if (range.end && *range.end <= range.begin)
      throw UsageError(fmt::format("--range: {} is empty", arguments.range));
  }
  if (!arguments.sink) return range;
  if (*arguments.sink < range.begin || (range.end && *arguments.sink >= *range.end))
    throw UsageError(fmt::format("--sink: token {} is outside the range", *arguments.sink));
  range.end = *arguments.sink + 1;
  return range;
}

/// A source and what belongs to it.
struct Input {
  std::unique_ptr<Model> model;
  std::unique_ptr<AttentionSource> source;
};

bool is_checkpoint(const TensorFile& file) {
  return std::any_of(file.tensors().begin(), file.tensors().end(), [](const Tensor& tensor) {
    return tensor.name() == "token_emb.weight" || tensor.name().ends_with(".token_emb.weight");
  });
}

Input open_checkpoint(const TensorFile& file, const AnalyzeArguments& arguments,
                      const TokenRange& range) {
  if (!arguments.layers.empty() || !arguments.axes.empty() || arguments.row_tolerance)
    throw UsageError(fmt::format(
        "{} is a checkpoint: --layers, --axes and --row-tolerance are for files of attention",
        file.path()));
  if (arguments.tokens.empty() && arguments.task.empty())
    throw UsageError(
        fmt::format("{} is a checkpoint: give --tokens FILE or --task NAME", file.path()));
  if (!arguments.tokens.empty() && (arguments.samples || arguments.seed))
    throw UsageError("--samples and --seed draw sequences: they exclude --tokens");
  const Task* task = arguments.task.empty() ? nullptr : &find_task(arguments.task);
  Input input;
  input.model = std::make_unique<Model>(load_model(file, arguments.heads));
  const ModelConfig& config = input.model->config();
  Sequences sequences =
      arguments.tokens.empty()
          ? random_sequences(arguments.seed.value_or(1), arguments.samples.value_or(50),
                             config.length, config.vocabulary)
          : read_sequences(arguments.tokens);
  input.source = std::make_unique<ModelAttention>(*input.model, std::move(sequences), task, range);
  return input;
}

Input open_attention(const TensorFile& file, const AnalyzeArguments& arguments,
                     const TokenRange& range) {
  if (!arguments.tokens.empty() || !arguments.task.empty() || arguments.heads != 0 ||
      arguments.samples || arguments.seed)
    throw UsageError(fmt::format(
        "{} holds attention: --tokens, --task, --samples, --seed and --heads are for checkpoints",
        file.path()));
  Input input;
  input.source = open_attention_file(
      file, {arguments.layers, range, arguments.row_tolerance,
             arguments.axes.empty() ? AttentionAxes() : parse_axes(arguments.axes)});
  return input;
}

/// Whether --weights is a list of numbers and not a file's name.
bool is_list(const std::string& weights) {
  return weights.find_first_not_of("0123456789.,+-eE") == std::string::npos;
}

/// The head weights and, in `described`, where they come from.
LayerWeights choose_weights(const AnalyzeArguments& arguments, const Input& input,
                            std::string& described) {
  const std::vector<AttentionLayer>& layers = input.source->layers();
  const bool learned_possible = input.model != nullptr || !arguments.projections.empty();
  described =
      arguments.weights.empty() ? (learned_possible ? "learned" : "uniform") : arguments.weights;
  if (!arguments.projections.empty() && described != "learned")
    throw UsageError("--out-proj goes with --weights learned");
  if (described == "uniform") return uniform_weights(layers);
  if (described == "learned") {
    if (!learned_possible)
      throw UsageError("--weights learned: attention has none: give --out-proj FILE");
    return arguments.projections.empty() ? weights_of_model(*input.model)
                                         : weights_of_projections(layers, arguments.projections);
  }
  described = "given";
  if (is_list(arguments.weights))
    return given_weights(layers, parse_numbers(arguments.weights, "--weights"));
  return weights_of_file(layers, arguments.weights);
}

void run_analyze(const AnalyzeArguments& arguments) {
  const FigureOptions figure = arguments.figure.resolve();
  check_outputs({{"--figure", arguments.figure.file},
                 {"--per-sample", arguments.per_sample},
                 {"--json", arguments.json}},
                {{"FILE", arguments.file},
                 {"--tokens", arguments.tokens},
                 {"--weights", arguments.weights},
                 {"--out-proj", arguments.projections}});
  if (arguments.figure.wanted()) check_figure(arguments.figure.file);
  const bool printed = to_standard_output({arguments.per_sample, arguments.json});
  LayerReport report;
  report.range = parse_range(arguments);
  report.per_head = arguments.per_head;
  report.conventions = arguments.metrics.chosen_conventions();
  AnalysisOptions options;
  options.execution.threads = arguments.metrics.execution.threads;
  options.execution.memory = std::size_t{1152} << 20U;  // the 1 GiB of docs/performance.md
  if (!arguments.quiet) options.execution.progress.stream = stderr;
  options.conventions.clear();
  for (const Convention convention : report.conventions) {
    options.conventions.push_back(arguments.metrics.resolve(convention));
    options.conventions.back().per_head_walks = arguments.per_head;
  }

  const TensorFile file = open_tensors(arguments.file);
  const Input input = is_checkpoint(file) ? open_checkpoint(file, arguments, report.range)
                                          : open_attention(file, arguments, report.range);
  const LayerWeights weights = choose_weights(arguments, input, report.weights);
  report.reading = input.source->reading();
  if (arguments.figure.wanted())
    check_layer_figure(input.source->layers(), report.conventions.size(), figure);
  run_until_stopped(options.execution,
                    [&] { report.analysis = analyse(*input.source, weights, options); });
  if (const auto* source = dynamic_cast<const ModelAttention*>(input.source.get())) {
    report.model = input.model->config();
    report.heads_from_name = head_count(file, arguments.heads).from_name;
    report.evaluation = source->evaluation();
    report.task = arguments.task;
  }

  if (arguments.figure.wanted()) draw_layer_figure(arguments.figure.file, report, figure);
  if (!arguments.per_sample.empty())
    write_output(arguments.per_sample, format_csv(csv_table(report)));
  if (!arguments.json.empty()) write_output(arguments.json, json_report(report));
  if (!printed) print(format_report(report, output_columns()));
}

void add_input_options(CLI::App& command, AnalyzeArguments& arguments) {
  const char* group = "Input";
  command.add_option("FILE", arguments.file, "attention, or a checkpoint; - for standard input")
      ->required()
      ->group(group);
  command
      .add_option("--layers", arguments.layers,
                  "regular expression that chooses an archive's tensors (default: all); layers "
                  "come in natural order, 2 before 10")
      ->type_name("REGEX")
      ->group(group);
  command
      .add_option("--axes", arguments.axes,
                  "what the arrays' axes are: some of layer,sample,head,query,key, in any order "
                  "(default: the last of these, as many as there are)")
      ->type_name("LIST")
      ->group(group);
  add_number(command, "--sink", arguments.sink,
             "analyse the prefix that ends at this token, counted from 0 (default: the last)", {0})
      ->type_name("I")
      ->group(group);
  command
      .add_option(
          "--range", arguments.range,
          "analyse tokens A to B-1 only, without padding: rows and columns are cut and what "
          "remains of each row is renormalised")
      ->type_name("A:B")
      ->group(group);
  add_number(command, "--row-tolerance", arguments.row_tolerance,
             "how far a row's sum may be from 1 (default: what rounding explains, to the file's "
             "element type or to the shorter one that the values show)",
             {0.0, 1.0})
      ->group(group);
  command.add_option("--tokens", arguments.tokens, "sequences (samples, n) for a checkpoint")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--task", arguments.task,
                  "judge a checkpoint by this task, and without --tokens draw its sequences: copy, "
                  "cycle or zero")
      ->group(group);
  add_number(command, "--samples", arguments.samples, "sequences to draw (default: 50)",
             {1, 100000000})
      ->group(group);
  add_number(command, "--seed", arguments.seed, "of the sequences drawn (default: 1)")
      ->group(group);
  add_number(command, "--heads", arguments.heads,
             "heads of a checkpoint that does not say how many (default: the H of a file name "
             "H_heads_...)",
             {1, 1 << 20})
      ->default_str("")
      ->group(group);
  command
      .add_option("--weights", arguments.weights,
                  "head weights: uniform, learned, a list w1,w2,..., or a file with (heads) or "
                  "(layers, heads) numbers (default: learned for checkpoints, else uniform)")
      ->group(group);
  command
      .add_option("--out-proj", arguments.projections,
                  "attention output projections (rows = outputs) that learned weights come from")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace

void add_analyze_command(CLI::App& app) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App& command = *app.add_subcommand("analyze", kAbout);
  command.footer(kDetails);
  add_input_options(command, *arguments);
  arguments->metrics.options_of = convention_options;
  arguments->metrics.add_to(command, true);
  const char* output = "Output";
  command
      .add_flag("--per-head", arguments->per_head,
                "also measure each head alone, and the mixing synergy")
      ->group(output);
  command
      .add_option("--per-sample", arguments->per_sample,
                  "write every sample's numbers as CSV; - for standard output instead of the table")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(output);
  command
      .add_option("--json", arguments->json,
                  "write everything as JSON; - for standard output instead of the table")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(output);
  arguments->figure.add_to(command, "draw speed and fidelity by layer", "layers");
  command.add_flag("--quiet", arguments->quiet, "no progress on stderr")->group(output);
  command.callback([arguments] { run_analyze(*arguments); });
}

}  // namespace synergraph::cli
