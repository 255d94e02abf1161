#include "cli/attention_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/input.h"
#include "cli/metrics_options.h"
#include "cli/number_option.h"
#include "cli/setting_option.h"
#include "synergraph/analysis/attention_file.h"
#include "synergraph/analysis/graph_source.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/analysis/moved_arrays.h"
#include "synergraph/analysis/padded_sequences.h"
#include "synergraph/core/error.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/model/load_model.h"
#include "synergraph/train/data.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph::cli {
namespace {

/// A token position or an end of a range.
std::int64_t parse_position(const std::string& text, const char* option) {
  return parse_option<std::int64_t>(option, text, {0});
}

bool is_checkpoint(const TensorFile& file) {
  return std::any_of(file.tensors().begin(), file.tensors().end(), [](const Tensor& tensor) {
    return tensor.name() == "token_emb.weight" || tensor.name().ends_with(".token_emb.weight");
  });
}

/// Whether --lengths is a list of whole numbers and not a file's name.
bool is_length_list(const std::string& lengths) {
  return lengths.find_first_not_of("0123456789,") == std::string::npos;
}

/// Whether --weights is a list of numbers and not a file's name.
bool is_list(const std::string& weights) {
  return weights.find_first_not_of("0123456789.,+-eE") == std::string::npos;
}

void check_weights_file(const std::string& weights) {
  if (std::error_code unknown; !std::filesystem::exists(weights, unknown))
    throw InputError(fmt::format(
        "--weights: {} is not uniform, learned, a list w1,w2,... or a file that is there",
        quoted_text(weights)));
}

}  // namespace

std::vector<NamedPath> AttentionArguments::files() const {
  return {{"FILE", file},         {"--tokens", tokens},
          {"--weights", weights}, {"--out-proj", projections},
          {"--lengths", lengths}, {"--moved", moved}};
}

TokenRange AttentionArguments::parse_range() const {
  if (lengths.empty() && !padding.empty())
    throw UsageError("--padding needs --lengths, the number of real tokens per sample");
  if (!lengths.empty() && !range.empty())
    throw UsageError("--lengths and --range exclude each other");
  TokenRange chosen;
  if (!lengths.empty()) return chosen;
  if (!range.empty()) {
    const std::size_t colon = range.find(':');
    if (colon == std::string::npos)
      throw UsageError(fmt::format("--range: expected A:B, got '{}'", range));
    const std::string begin = range.substr(0, colon);
    const std::string end = range.substr(colon + 1);
    if (!begin.empty()) chosen.begin = parse_position(begin, "--range");
    if (!end.empty()) chosen.end = parse_position(end, "--range");
    if (chosen.end && *chosen.end <= chosen.begin)
      throw UsageError(fmt::format("--range: {} is empty", range));
  }
  if (!sink) return chosen;
  if (*sink < chosen.begin || (chosen.end && *sink >= *chosen.end))
    throw UsageError(fmt::format("--sink: token {} is outside the range", *sink));
  chosen.end = *sink + 1;
  return chosen;
}

MissingMass AttentionArguments::missing() const {
  return parse_name<MissingMass>(missing_mass).value();
}

bool AttentionArguments::runs_elsewhere() const {
  return device != name_of(DeviceKind::kCpu) && device != kAutomatic;
}

AttentionInput AttentionArguments::open_checkpoint(const TensorFile& tensors,
                                                   const TokenRange& token_range,
                                                   int worker) const {
  if (!layers.empty() || !axes.empty() || row_tolerance || missing() != MissingMass::kError ||
      !lengths.empty())
    throw UsageError(
        fmt::format("{} is a checkpoint: --layers, --axes, --lengths, --row-tolerance and "
                    "--missing-mass are for files of attention",
                    tensors.path()));
  if (tokens.empty() && task.empty())
    throw UsageError(
        fmt::format("{} is a checkpoint: give --tokens FILE or --task NAME", tensors.path()));
  if (!tokens.empty() && (samples || seed))
    throw UsageError("--samples and --seed draw sequences: they exclude --tokens");
  const Task* judge = task.empty() ? nullptr : &find_task(task);
  AttentionInput input;
  input.model = std::make_unique<Model>(load_model(tensors, heads));
  const ModelConfig& config = input.model->config();
  FleetSettings shape;
  shape.model = config;
  shape.batch = 1;
  const Device chosen = choose_device(device, Precision::kFloat32, {&shape, 1}, worker);
  if (chosen.kind != DeviceKind::kCpu) input.device = synergraph::describe(chosen);
  Sequences sequences = tokens.empty() ? random_sequences(seed.value_or(1), samples.value_or(50),
                                                          config.length, config.vocabulary)
                                       : read_sequences(tokens);
  input.source =
      std::make_unique<ModelAttention>(*input.model, std::move(sequences), judge, token_range,
                                       evaluator_factory(chosen, *input.model));
  input.heads_from_name = head_count(tensors, heads).from_name;
  return input;
}

AttentionInput AttentionArguments::open_attention(const TensorFile& tensors,
                                                  const TokenRange& token_range) const {
  if (!tokens.empty() || !task.empty() || heads != 0 || samples || seed || runs_elsewhere())
    throw UsageError(fmt::format(
        "{} holds attention: --tokens, --task, --samples, --seed, --heads and --device are for "
        "checkpoints",
        tensors.path()));
  AttentionInput input;
  std::unique_ptr<SequenceSource> source =
      open_attention_file(tensors, {layers, token_range, row_tolerance,
                                    axes.empty() ? AttentionAxes() : parse_axes(axes), missing()});
  if (!lengths.empty()) try {
      choose_sequences(*source);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", tensors.path(), error.what()));
    }
  input.source = std::move(source);
  return input;
}

void AttentionArguments::choose_sequences(SequenceSource& source) const {
  SequenceChoice choice;
  if (is_length_list(lengths))
    for (const std::string_view length : split(lengths, ','))
      choice.lengths.push_back(parse_option<std::int64_t>("--lengths", length, {1}));
  else
    choice.lengths = lengths_of_file(lengths);
  if (!padding.empty()) choice.padding = parse_name<PaddingSide>(padding).value();
  if (sink) choice.sinks.push_back(*sink);
  source.choose(padded_sequences(source.whole_layers(), choice));
}

AttentionInput AttentionArguments::open_graph(const ByteSource& bytes) const {
  if (!layers.empty() || !axes.empty() || row_tolerance || !tokens.empty() || !task.empty() ||
      heads != 0 || samples || seed || sink || !range.empty() || !projections.empty() ||
      missing() != MissingMass::kError || !lengths.empty() || runs_elsewhere())
    throw UsageError(fmt::format("{} is a graph: of the options on input only --weights is for it",
                                 bytes.name()));
  if (bytes.size() > kMostGraphBytes)
    throw InputError(fmt::format(
        "{}: neither attention nor a checkpoint, and larger than the limit of {} bytes for a graph",
        bytes.name(), kMostGraphBytes));
  MultiHeadGraph graph = parse_graph_text(bytes.read_string(0, bytes.size()), bytes.name());
  AttentionInput input;
  for (const GraphHead& head : graph.heads) input.head_names.push_back(head.name);
  input.token_names = graph.node_names;
  try {
    auto source = std::make_unique<GraphSource>(graph);
    input.weights = {source->weights()};
    input.source = std::move(source);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", bytes.name(), error.what()));
  }
  input.weights_from = "graph";
  input.graph = std::move(graph);
  return input;
}

void AttentionArguments::choose_weights(AttentionInput& input) const {
  const std::vector<AttentionLayer>& of = input.source->layers();
  const bool learned_possible = input.model != nullptr || !projections.empty();
  if (weights.empty() && !input.weights_from.empty()) return;
  std::string& from = input.weights_from;
  from = weights.empty() ? (learned_possible ? "learned" : "uniform") : weights;
  if (!projections.empty() && from != "learned")
    throw UsageError("--out-proj goes with --weights learned");
  if (from == "uniform") {
    input.weights = uniform_weights(of);
  } else if (from == "learned") {
    if (!input.head_names.empty()) throw UsageError("--weights learned: a graph has none");
    if (!learned_possible)
      throw UsageError("--weights learned: attention has none: give --out-proj FILE");
    input.weights = projections.empty() ? weights_of_model(*input.model)
                                        : weights_of_projections(of, projections);
  } else {
    from = "given";
    if (!is_list(weights)) {
      check_weights_file(weights);
      input.weights = weights_of_file(of, weights);
      return;
    }
    const std::vector<double> raw = parse_numbers(weights, "--weights");
    try {
      input.weights = given_weights(of, raw);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--weights: {}", error.what()));
    }
  }
}

AttentionInput AttentionArguments::open(const TokenRange& token_range, int worker) const {
  if (edges.moved() && (!weights.empty() || !projections.empty()))
    throw UsageError(
        fmt::format("--edges {}: the weights of the heads follow from what they move; leave "
                    "--weights and --out-proj out",
                    name_of(edges.kind())));
  const ByteSourcePtr bytes = open_input(file);
  AttentionInput input;
  if (graphs_ && !is_tensor_file(*bytes)) {
    input = open_graph(*bytes);
  } else {
    const TensorFile tensors = TensorFile::open(bytes);
    input = is_checkpoint(tensors) ? open_checkpoint(tensors, token_range, worker)
                                   : open_attention(tensors, token_range);
  }
  choose_weights(input);
  choose_edges(input);
  return input;
}

void AttentionArguments::choose_edges(AttentionInput& input) const {
  if (!edges.moved()) {
    if (!moved.empty()) throw UsageError("--moved needs --edges norm or contribution");
    return;
  }
  const std::string_view kind = name_of(edges.kind());
  MovedReader reader;
  if (input.model) {
    if (!moved.empty())
      throw UsageError("--moved is for files of attention; a checkpoint has its own values");
    if (!input.device.empty())
      throw UsageError(fmt::format("--edges {} of a checkpoint needs --device cpu", kind));
  } else {
    const auto* source = dynamic_cast<const SequenceSource*>(input.source.get());
    if (source == nullptr) throw UsageError(fmt::format("--edges {}: a graph moves nothing", kind));
    if (moved.empty())
      throw UsageError(
          fmt::format("--edges {} needs --moved FILE, the values and output projections", kind));
    reader = MovedArrays::of_file(moved).reader(*source);
  }
  input.weights = uniform_weights(input.source->layers());
  input.attention = std::move(input.source);
  input.source = std::make_unique<EdgeSource>(*input.attention, edges.kind(), std::move(reader));
}

void AttentionArguments::describe(const AttentionInput& input, InputReport& report) const {
  report.edges = edges.kind();
  report.weights = edges.moved() ? "moved" : input.weights_from;
  report.reading = input.source->reading();
  if (const auto* source = dynamic_cast<const SequenceSource*>(&input.source->base());
      source != nullptr && !lengths.empty()) {
    if (const auto common = source->common_range())
      report.range = *common;
    else
      report.sequences = source->sequences();
  }
  if (!input.model) return;
  report.model = input.model->config();
  report.device = input.device;
  report.heads_from_name = input.heads_from_name;
  report.task = task;
  if (const auto* attention = dynamic_cast<const ModelAttention*>(&input.source->base())) {
    report.evaluation = attention->evaluation();
    report.control = attention->control();
  }
}

void AttentionArguments::add_to(CLI::App& command, bool graphs) {
  graphs_ = graphs;
  const char* group = "Input";
  command
      .add_option("FILE", file,
                  graphs ? "attention, a checkpoint, or a graph; - for standard input"
                         : "attention, or a checkpoint; - for standard input")
      ->required()
      ->group(group);
  command
      .add_option(
          "--layers", layers,
          "layers to analyse: numbers as the output shows them, such as 3 or 0,2 or 4-7, or "
          "a regular expression for the names of an archive's tensors (default: all); "
          "layers come in natural order, 2 before 10")
      ->type_name("LAYERS")
      ->group(group);
  command
      .add_option("--axes", axes,
                  "names of the arrays' axes in their order: some of layer,sample,head,query,key "
                  "(default: the last of these, one for each axis); for an archive, one more name "
                  "in front, layer or sample, says what each array is")
      ->type_name("LIST")
      ->group(group);
  add_number(command, "--sink", sink,
             "analyse the prefix that ends at this token, counted from 0 (default: the last)", {0})
      ->type_name("I")
      ->group(group);
  command
      .add_option(
          "--range", range,
          "analyse tokens A to B-1 only, without padding: rows and columns are cut and what "
          "remains of each row is renormalised")
      ->type_name("A:B")
      ->group(group);
  command
      .add_option("--lengths", lengths,
                  "number of real tokens per sample, as a list or a file; one number holds for all "
                  "samples; padding is ignored, even if it holds NaN")
      ->type_name("LIST")
      ->group(group);
  command.add_option("--padding", padding, "side of the padding, with --lengths (default: right)")
      ->check(CLI::IsMember(all_names<PaddingSide>()))
      ->group(group);
  add_number(command, "--row-tolerance", row_tolerance,
             "how far a row's sum may be from 1 (default: what rounding explains, to the file's "
             "element type or to the shorter one that the values show)",
             {0.0, 1.0})
      ->group(group);
  command
      .add_option(
          "--missing-mass", missing_mass,
          "error: refuse rows that sum to less than 1 beyond rounding; node: add a first node that "
          "takes all the missing mass and keeps it, for models with a learned sink logit")
      ->check(CLI::IsMember(all_names<MissingMass>()))
      ->capture_default_str()
      ->group(group);
  command.add_option("--tokens", tokens, "sequences (samples, n) for a checkpoint")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--task", task,
                  "judge a checkpoint by this task, and without --tokens draw its sequences: copy, "
                  "cycle or zero")
      ->group(group);
  add_number(command, "--samples", samples, "sequences to draw (default: 50)", {1, 100000000})
      ->group(group);
  add_number(command, "--seed", seed, "seed of the random sequences (default: 1)")->group(group);
  command
      .add_option("--device", device,
                  "what runs a checkpoint: cpu, cuda, cuda:1, ... or auto. A GPU saves the forward "
                  "pass, a few percent of the time")
      ->capture_default_str()
      ->group(group);
  add_number(command, "--heads", heads,
             "heads of a checkpoint that does not say how many (default: the H of a file name "
             "H_heads_...)",
             {1, 1 << 20})
      ->default_str("")
      ->group(group);
  command
      .add_option("--weights", weights,
                  "head weights: uniform, learned, a list w1,w2,..., or a file with (heads) or "
                  "(layers, heads) numbers (default: learned for checkpoints, else uniform)")
      ->group(group);
  command
      .add_option("--out-proj", projections,
                  "attention output projections (rows = outputs) that learned weights come from")
      ->type_name("FILE")
      ->group(group);
  visit_settings(edges, SettingOptions{command});
  command
      .add_option("--moved", moved,
                  "archive of what the heads move, for --edges norm and contribution: arrays "
                  "values, out_proj, residual, and out_proj_bias; or norms")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace synergraph::cli
