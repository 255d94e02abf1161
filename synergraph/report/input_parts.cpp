#include "synergraph/report/input_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/core/setting.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

/// "12 heads", or "4 to 12 heads" where the layers differ.
std::string count_text(const std::vector<AttentionLayer>& layers, int AttentionLayer::*count,
                       const char* what) {
  const std::string range = count_range(layers, count);
  return fmt::format("{} {}{}", range, what, range == "1" ? "" : "s");
}

}  // namespace

std::string input_text(const InputReport& input, const std::vector<AttentionLayer>& layers) {
  const bool missing = layers.front().missing_mass == MissingMass::kNode;
  const bool same_length = std::all_of(
      layers.begin(), layers.end(), [](const AttentionLayer& layer) { return layer.same_length; });
  std::string text = fmt::format(
      "{} layer{}, {}, {} of {}{}{}, {}\n", layers.size(), layers.size() == 1 ? "" : "s",
      count_text(layers, &AttentionLayer::samples, input.sequences.empty() ? "sample" : "sequence"),
      count_text(layers, &AttentionLayer::heads, "head"), same_length ? "" : "up to ",
      count_text(layers, &AttentionLayer::tokens, "token"),
      missing ? " and a node for missing mass" : "",
      input.edges == EdgeKind::kAttention
          ? input.weights + " head weights"
          : fmt::format("{} edges; head weights are means of what the heads move",
                        name_of(input.edges)));
  if (!input.reading.empty()) text += input.reading + '\n';
  if (input.model && input.heads_from_name)
    text += fmt::format("heads: {}, from the file's name (change this with {})\n",
                        input.model->heads, option_mark("heads"));
  if (!input.device.empty()) text += fmt::format("model run by {}\n", input.device);
  if (input.evaluation)
    text += fmt::format("task {}: accuracy {:.4f}, loss {:.6g}\n", input.task,
                        input.evaluation->accuracy, input.evaluation->loss);
  if (input.control) {
    const Evaluation& off = input.control->without_attention;
    text += fmt::format(
        "with every head off: accuracy {:.4f}, loss {:.6g}{}\n", off.accuracy, off.loss,
        needs_no_attention(*input.control) ? "; the model needs no attention for this task" : "");
  }
  return text;
}

std::string convention_text(Convention convention, const MetricsOptions& options) {
  return fmt::format("{}: {} walk, fidelity as a fraction over {} ({})\n", name_of(convention),
                     name_of(options.normalization),
                     options.fidelity.from.empty() ? std::string(name_of(options.fidelity.nodes))
                                                   : sources_text(options.fidelity),
                     horizon_text(options.fidelity));
}

nlohmann::ordered_json json_document(const DocumentId& id, const InputReport& input,
                                     const std::vector<AttentionLayer>& layers,
                                     const char* source) {
  using nlohmann::ordered_json;
  ordered_json json = document_of(
      id,
      {{"source", input.model ? "model" : source},
       {"weights", input.weights},
       {"range",
        {input.range.begin, input.range.end ? ordered_json(*input.range.end) : ordered_json()}}});
  if (input.edges != EdgeKind::kAttention) json["edges"] = name_of(input.edges);
  if (!input.sequences.empty()) {
    json["range"] = nullptr;
    for (const TokenSpan& sequence : input.sequences)
      json["sequences"].push_back({sequence.sample, sequence.begin, sequence.end});
  }
  if (const MissingMass missing = layers.front().missing_mass; missing != MissingMass::kError)
    json["missing_mass"] = name_of(missing);
  if (input.model) {
    const ModelConfig& model = *input.model;
    json["model"] = {{"vocabulary", model.vocabulary}, {"length", model.length},
                     {"width", model.width},           {"heads", model.heads},
                     {"layers", model.layers},         {"hidden", model.hidden}};
    if (input.heads_from_name) json["model"]["heads_from"] = "file name";
    if (!input.device.empty()) json["model"]["device"] = input.device;
  }
  if (input.evaluation)
    json["task"] = {{"name", input.task},
                    {"accuracy", input.evaluation->accuracy},
                    {"loss", input.evaluation->loss}};
  if (input.control) json["task"].update(json_control(*input.control));
  return json;
}

}  // namespace synergraph
