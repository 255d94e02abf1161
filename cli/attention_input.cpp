#include "cli/attention_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/input.h"
#include "cli/number_option.h"
#include "synergraph/analysis/attention_file.h"
#include "synergraph/analysis/graph_source.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/analysis/moved_arrays.h"
#include "synergraph/analysis/padded_sequences.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/device/device_name.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/model/load_model.h"
#include "synergraph/train/data.h"
#include "synergraph/train/make_evaluator.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/make_loss_games.h"

namespace synergraph::cli {
namespace {

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

/// "0.5,0.3,0.2" as numbers. UsageError names the part that is none.
std::vector<double> parse_numbers(const std::string& list, const std::string& what) {
  std::vector<double> values;
  for (const std::string_view part : split(list, ',')) {
    double value = 0.0;
    if (!parse_number(part, value))
      throw UsageError(fmt::format("{}: {} is not a number", what, quoted_text(part)));
    values.push_back(value);
  }
  return values;
}

void check_weights_file(const std::string& weights) {
  if (std::error_code unknown; !std::filesystem::exists(weights, unknown))
    throw InputError(fmt::format(
        "--weights: {} is not uniform, learned, a list w1,w2,... or a file that is there",
        quoted_text(weights)));
}

}  // namespace

std::vector<NamedPath> AttentionArguments::files() const {
  return {{"FILE", given_.file},         {"--tokens", given_.tokens},
          {"--weights", given_.weights}, {"--out-proj", given_.out_proj},
          {"--lengths", given_.lengths}, {"--moved", given_.moved}};
}

TokenRange AttentionArguments::token_range() const {
  const std::string& lengths = given_.lengths;
  if (lengths.empty() && given_.padding)
    throw UsageError(fmt::format("{} needs {}, the number of real tokens per sample",
                                 option_mark("padding"), option_mark("lengths")));
  if (!lengths.empty() && given_.range)
    throw UsageError(
        fmt::format("{} and {} exclude each other", option_mark("lengths"), option_mark("range")));
  if (!lengths.empty()) return {};
  TokenRange chosen = given_.range.value_or(TokenRange());
  const std::optional<std::int64_t> sink = range_sink();
  if (!sink) return chosen;
  if (*sink < chosen.begin || (chosen.end && *sink >= *chosen.end))
    throw UsageError(fmt::format("{}: token {} is outside the range", option_mark("sink"), *sink));
  chosen.end = *sink + 1;
  return chosen;
}

std::optional<std::int64_t> AttentionArguments::range_sink() const {
  const std::optional<std::int64_t> single = given_.sink.single();
  return single && *single >= 0 && given_.lengths.empty() ? single : std::nullopt;
}

bool AttentionArguments::runs_elsewhere() const {
  return device_name(given_.device).gpu;
}

std::string AttentionArguments::model_device() const {
  return device_name(given_.device).all ? std::string(name_of(DeviceKind::kCuda)) : given_.device;
}

AttentionInput AttentionArguments::open_checkpoint(const TensorFile& tensors,
                                                   const TokenRange& token_range,
                                                   int worker) const {
  if (!given_.layers.empty() || !given_.axes.empty() || given_.row_tolerance ||
      given_.missing_mass != MissingMass::kError || !given_.lengths.empty())
    throw UsageError(
        fmt::format("{} is a checkpoint: --layers, --axes, --lengths, --row-tolerance and "
                    "--missing-mass are for files of attention",
                    tensors.path()));
  if (given_.tokens.empty() && given_.task.empty())
    throw UsageError(
        fmt::format("{} is a checkpoint: give --tokens FILE or --task NAME", tensors.path()));
  if (!given_.tokens.empty() && (given_.samples || given_.seed))
    throw UsageError("--samples and --seed draw sequences: they exclude --tokens");
  const Task* judge = given_.task.empty() ? nullptr : &find_task(given_.task);
  AttentionInput input;
  input.model = std::make_unique<Model>(load_model(tensors, given_.heads.value_or(0)));
  const ModelConfig& config = input.model->config();
  const Device chosen = choose_evaluating(model_device(), config, worker);
  if (chosen.kind != DeviceKind::kCpu) input.device = synergraph::describe(chosen);
  Sequences sequences =
      judge != nullptr && given_.tokens.empty()
          ? random_inputs(*judge, given_.seed.value_or(1), given_.samples.value_or(50),
                          config.length, config.vocabulary)
          : read_sequences(given_.tokens);
  input.source = std::make_unique<ModelAttention>(
      *input.model, std::move(sequences), judge, token_range,
      evaluator_factory(chosen, *input.model), range_sink() ? TokenChoice() : given_.sink,
      loss_games_factory(chosen, *input.model));
  input.heads_from_name = head_count(tensors, given_.heads.value_or(0)).from_name;
  return input;
}

AttentionInput AttentionArguments::open_attention(const TensorFile& tensors,
                                                  const TokenRange& token_range) const {
  if (!given_.tokens.empty() || !given_.task.empty() || given_.heads || given_.samples ||
      given_.seed)
    throw UsageError(fmt::format(
        "{} holds attention: --tokens, --task, --samples, --seed and --heads are for checkpoints",
        tensors.path()));
  AttentionInput input;
  std::unique_ptr<SequenceSource> source =
      open_attention_file(tensors, {given_.layers, token_range, given_.row_tolerance,
                                    given_.axes.empty() ? AttentionAxes() : parse_axes(given_.axes),
                                    given_.missing_mass});
  if (chooses_sequences() && given_.range)
    throw UsageError(fmt::format("{} and several sinks ({}) exclude each other",
                                 option_mark("range"), option_mark("sink")));
  if (chooses_sequences()) try {
      choose_sequences(*source);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", tensors.path(), error.what()));
    }
  input.source = std::move(source);
  return input;
}

void AttentionArguments::choose_sequences(SequenceSource& source) const {
  SequenceChoice choice;
  choice.to = given_.sink;
  if (given_.lengths.empty()) return source.choose(padded_sequences(source.whole_layers(), choice));
  if (is_length_list(given_.lengths))
    for (const std::string_view length : split(given_.lengths, ','))
      choice.lengths.push_back(parse_option<std::int64_t>("--lengths", length, {1}));
  else
    choice.lengths = lengths_of_file(given_.lengths);
  choice.padding = given_.padding.value_or(choice.padding);
  source.choose(padded_sequences(source.whole_layers(), choice));
}

AttentionInput AttentionArguments::open_graph(const ByteSource& bytes) const {
  if (!given_.layers.empty() || !given_.axes.empty() || given_.row_tolerance ||
      !given_.tokens.empty() || !given_.task.empty() || given_.heads || given_.samples ||
      given_.seed || !given_.sink.empty() || given_.range || !given_.out_proj.empty() ||
      given_.missing_mass != MissingMass::kError || !given_.lengths.empty() || runs_elsewhere())
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
  const bool learned_possible = input.model != nullptr || !given_.out_proj.empty();
  if (given_.weights.empty() && !input.weights_from.empty()) return;
  std::string& from = input.weights_from;
  from = given_.weights.empty() ? (learned_possible ? "learned" : "uniform") : given_.weights;
  if (!given_.out_proj.empty() && from != "learned")
    throw UsageError("--out-proj goes with --weights learned");
  if (from == "uniform") {
    input.weights = uniform_weights(of);
  } else if (from == "learned") {
    if (!input.head_names.empty()) throw UsageError("--weights learned: a graph has none");
    if (!learned_possible)
      throw UsageError("--weights learned: attention has none: give --out-proj FILE");
    input.weights = given_.out_proj.empty() ? weights_of_model(*input.model)
                                            : weights_of_projections(of, given_.out_proj);
  } else {
    from = "given";
    if (!is_list(given_.weights)) {
      check_weights_file(given_.weights);
      input.weights = weights_of_file(of, given_.weights);
      return;
    }
    const std::vector<double> raw = parse_numbers(given_.weights, "--weights");
    try {
      input.weights = given_weights(of, raw);
    } catch (const InputError& error) {
      throw InputError(fmt::format("--weights: {}", error.what()));
    }
  }
}

AttentionInput AttentionArguments::open(const TokenRange& token_range, int worker) const {
  if (edges_.moved() && (!given_.weights.empty() || !given_.out_proj.empty()))
    throw UsageError(fmt::format(
        "{} {}: the weights of the heads follow from what they move; leave {} and {} out",
        option_mark("edges"), name_of(edges_.kind()), option_mark("weights"),
        option_mark("out_proj")));
  const ByteSourcePtr bytes = open_input(given_.file);
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
  if (!edges_.moved()) {
    if (!given_.moved.empty())
      throw UsageError(fmt::format("{} needs {} norm or contribution", option_mark("moved"),
                                   option_mark("edges")));
    return;
  }
  const std::string edges = fmt::format("{} {}", option_mark("edges"), name_of(edges_.kind()));
  MovedReader reader;
  if (input.model) {
    if (!given_.moved.empty())
      throw UsageError(fmt::format("{} is for files of attention; a checkpoint has its own values",
                                   option_mark("moved")));
    if (!input.device.empty())
      throw UsageError(
          fmt::format("{} of a checkpoint needs {} cpu", edges, option_mark("device")));
  } else {
    const auto* source = dynamic_cast<const SequenceSource*>(input.source.get());
    if (source == nullptr) throw UsageError(fmt::format("{}: a graph moves nothing", edges));
    if (given_.moved.empty())
      throw UsageError(fmt::format("{} needs {} FILE, the values and output projections", edges,
                                   option_mark("moved")));
    reader = MovedArrays::of_file(given_.moved).reader(*source);
  }
  input.weights = uniform_weights(input.source->layers());
  input.attention = std::move(input.source);
  input.source = std::make_unique<EdgeSource>(*input.attention, edges_.kind(), std::move(reader));
}

void AttentionArguments::describe(const AttentionInput& input, InputReport& report) const {
  report.edges = edges_.kind();
  report.weights = edges_.moved() ? "moved" : input.weights_from;
  report.reading = spelled(input.source->reading(), OptionSpelling::kProgram);
  if (const auto* source = dynamic_cast<const SequenceSource*>(&input.source->base());
      source != nullptr && chooses_sequences()) {
    if (const auto common = source->common_range())
      report.range = *common;
    else
      report.sequences = source->sequences();
  }
  if (!input.model) return;
  report.model = input.model->config();
  report.device = input.device;
  report.heads_from_name = input.heads_from_name;
  report.task = given_.task;
  if (const auto* attention = dynamic_cast<const ModelAttention*>(&input.source->base())) {
    report.evaluation = attention->evaluation();
    report.control = attention->control();
    report.sequences = attention->sequences();
  }
}

}  // namespace synergraph::cli
