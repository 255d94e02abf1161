#include "synergraph/report/heads_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/head_numbers.h"
#include "synergraph/report/heads_facts.h"
#include "synergraph/report/heads_summary.h"
#include "synergraph/report/input_parts.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

ordered_json json_estimate(const Estimate& estimate) {
  return {{"mean", json_number(estimate.mean)}, {"error", json_number(estimate.error)}};
}

ordered_json json_interactions(const std::vector<Interaction>& interactions) {
  ordered_json list = ordered_json::array();
  for (const Interaction& interaction : interactions)
    list.push_back({{"heads", interaction.heads},
                    {"mean", json_number(interaction.index.mean)},
                    {"error", json_number(interaction.index.error)}});
  return list;
}

ordered_json json_set(const HeadSet& set) {
  return {{"heads", set.heads}, {"value", json_number(set.value)}};
}

ordered_json json_path(const PruningPath& path) {
  return {{"order", path.order}, {"value", path.value}, {"loss", path.loss}};
}

ordered_json json_claim(const std::optional<HeldOutClaim>& claim, const HeldOutClaim* named) {
  if (!claim) return {};
  return {{"heads", claim->heads},
          {"size", json_number(claim->size)},
          {"chance", json_number(claim->chance)},
          {"named", named != nullptr}};
}

/// Claims that were judged on samples that did not choose them; `named`: a summary says so.
ordered_json json_held_out(const HeldOutClaims& claims, const ValueFacts& facts) {
  return {{"samples", claims.samples},
          {"redundant", json_claim(claims.redundant, facts.redundant)},
          {"complementary", json_claim(claims.complementary, facts.complementary)},
          {"better_set", json_claim(claims.better_set, facts.better_set)},
          {"better_without", json_claim(claims.better_without, facts.better_without)},
          {"other_weights", json_claim(claims.other_weights, facts.other_weights)}};
}

ordered_json json_value(const ValueOfHeads& layer_value, int samples, int claims) {
  ordered_json heads = ordered_json::array();
  for (std::size_t h = 0; h < layer_value.heads.size(); ++h) {
    const ValueOfHead& head = layer_value.heads[h];
    ordered_json& json = heads.emplace_back(ordered_json({{"head", h}}));
    for (const auto& [key, number] : kHeadNumbers)
      json[std::string(key)] = json_estimate(head.*number);
  }
  ordered_json best = ordered_json::array();
  for (std::size_t k = 0; k < layer_value.pruning.best.size(); ++k) {
    best.push_back(json_set(layer_value.pruning.best[k]));
    best.back()["certified"] = static_cast<bool>(layer_value.pruning.certified[k]);
  }
  const ValueFacts facts = value_facts(layer_value, samples, claims);
  ordered_json json = {
      {"value", name_of(layer_value.value)},
      {"all", json_estimate(layer_value.all)},
      {"gap", json_number(layer_value.gap)},
      {"heads", std::move(heads)},
      {"carriers", {{"heads", facts.carriers}, {"share", facts.carried}}},
      {"better_without", facts.harmful},
      {"pairs", json_interactions(layer_value.pairs)},
      {"triples", json_interactions(layer_value.triples)},
      {"pruning",
       {{"samples", layer_value.pruning.samples},
        {"best", std::move(best)},
        {"greedy_addition", json_path(layer_value.pruning.addition)},
        {"greedy_removal", json_path(layer_value.pruning.removal)},
        {"shapley", json_path(layer_value.pruning.shapley)}}},
      {"smallest", json_set(layer_value.smallest)},
      {"beating", layer_value.beating},
      {"better", layer_value.better ? json_set(*layer_value.better) : ordered_json()}};
  json["held_out"] =
      layer_value.held_out ? json_held_out(*layer_value.held_out, facts) : ordered_json();
  if (layer_value.weights)
    json["best_weights"] = json_weights(*layer_value.weights, layer_value.weight_samples);
  return json;
}

ordered_json json_loss(const LossOfHeads& loss, const std::vector<HeadValue>& values) {
  ordered_json agreement = ordered_json::object();
  for (std::size_t v = 0; v < values.size(); ++v)
    agreement[std::string(name_of(values[v]))] = json_number(loss.agreement[v]);
  return {{"won", loss.won},
          {"shapley", loss.shapley},
          {"rank_correlation", std::move(agreement)},
          {"ablation", name_of(loss.ablation)},
          {"value", json_value(loss.value, 1, 1)},
          {"accuracy", {{"won", loss.accuracy_won}, {"shapley", loss.accuracy_shapley}}}};
}

ordered_json json_layer(const HeadsReport& report, std::size_t l) {
  const HeadValues& head_values = report.head_values;
  const AttentionLayer& layer = head_values.layers[l];
  const LayerHeadValues& layer_value = head_values.layer_values[l];
  ordered_json values = ordered_json::array();
  const int claims = possible_claims(head_values);
  for (const ValueOfHeads& value : layer_value.values)
    values.push_back(json_value(value, layer.samples / layer.sinks, claims));
  ordered_json json = {
      {"name", layer.name},
      {"samples", layer.samples},
      {"tokens", layer.tokens},
      {"weights", report.ablated ? ordered_json() : ordered_json(head_values.weights[l])},
      {"exact", layer_value.exact},
      {"permutations", layer_value.permutations},
      {"precise", layer_value.precise},
      {"values", std::move(values)}};
  if (report.loss) json["loss"] = json_loss((*report.loss)[l], head_values.options.values);
  if (report.moved) json["moved"] = (*report.moved)[l];
  return json;
}

ordered_json json_layers(const HeadsReport& report) {
  ordered_json layers = ordered_json::array();
  for (std::size_t l = 0; l < report.head_values.layer_values.size(); ++l)
    layers.push_back(json_layer(report, l));
  return layers;
}

ordered_json json_stack(const StackAnalysis& stack) {
  const auto estimates = [](const std::vector<Estimate>& numbers) {
    ordered_json list = ordered_json::array();
    for (const Estimate& number : numbers) list.push_back(json_estimate(number));
    return list;
  };
  const auto layers = [&](const std::vector<LayerFlow>& flows) {
    ordered_json list = ordered_json::array();
    for (std::size_t l = 0; l < flows.size(); ++l)
      list.push_back({{"name", stack.layers[l].name},
                      {"residual", json_estimate(flows[l].residual)},
                      {"heads", estimates(flows[l].heads)}});
    return list;
  };
  ordered_json json = {
      {"residual",
       stack.measured_residual ? ordered_json("measured") : ordered_json(stack.options.residual)},
      {"token", stack.options.token ? ordered_json(*stack.options.token) : ordered_json()},
      {"samples", stack.samples},
      {"without_signal", stack.without_signal},
      {"fidelity", json_estimate(stack.fidelity)},
      {"effective_tokens", json_estimate(stack.effective_tokens)},
      {"signal", estimates(stack.signal)},
      {"weakest", stack.weakest},
      {"layers", layers(stack.flows)},
      {"shares", layers(stack.shares)}};
  if (!stack.flow.empty()) json["flow"] = estimates(stack.flow);
  return json;
}

}  // namespace

Table csv_table(const HeadsReport& report) {
  const HeadValues& head_values = report.head_values;
  Table table;
  table.header = {"layer", "value", "head", "weight"};
  for (const auto& [key, number] : kHeadNumbers) {
    table.header.emplace_back(key);
    table.header.push_back(fmt::format("{}_error", key));
  }
  for (const char* title : {"in_smallest", "best_weight", "all", "all_error", "exact",
                            "stack_share", "stack_share_error", "loss_shapley"})
    table.header.emplace_back(title);
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  for (std::size_t l = 0; l < head_values.layer_values.size(); ++l)
    for (const ValueOfHeads& layer_value : head_values.layer_values[l].values)
      for (std::size_t h = 0; h < layer_value.heads.size(); ++h) {
        const ValueOfHead& head = layer_value.heads[h];
        const auto number = static_cast<int>(h);
        std::vector<std::string>& row = table.rows.emplace_back(std::vector<std::string>{
            head_values.layers[l].name, std::string(name_of(layer_value.value)),
            report.head_names.empty() ? fmt::format("{}", h) : report.head_names[h],
            report.ablated ? std::string() : exact(head_values.weights[l][h])});
        const auto add = [&](const Estimate& estimate) {
          row.push_back(exact(estimate.mean));
          row.push_back(exact(estimate.error));
        };
        for (const auto& [key, number_of] : kHeadNumbers) add(head.*number_of);
        row.push_back(
            truth(std::find(layer_value.smallest.heads.begin(), layer_value.smallest.heads.end(),
                            number) != layer_value.smallest.heads.end()));
        row.push_back(layer_value.weights ? exact(layer_value.weights->weights[h]) : std::string());
        add(layer_value.all);
        row.push_back(truth(head_values.layer_values[l].exact));
        if (report.stack && !report.stack->flows.empty()) add(report.stack->flows[l].heads[h]);
        row.resize(table.header.size());
        if (report.loss) row.back() = exact((*report.loss)[l].shapley[h]);
      }
  return table;
}

namespace {

/// The document of an ablation: that of heads, with a loss for the attention.
std::string json_ablation(const HeadsReport& report) {
  const HeadValueOptions& options = report.head_values.options;
  const AblatedLoss& loss = *report.ablated;
  return json_text(document_of(kAblationDocument,
                               {{"loss",
                                 {{"name", loss.name},
                                  {"intact", json_estimate(loss.intact)},
                                  {"without_attention", json_estimate(loss.without_attention)},
                                  {"needed", json_estimate(loss.needed)}}},
                                {"settings",
                                 {{"kind", name_of(loss.kind)},
                                  {"keep", options.keep},
                                  {"exact_heads", options.exact_heads},
                                  {"precision", options.sampling.precision},
                                  {"orders", options.sampling.max_permutations},
                                  {"seed", options.sampling.seed},
                                  {"pairs", options.sampling.pairs}}},
                                {"summary", heads_summary(report)},
                                {"layers", json_layers(report)}}));
}

}  // namespace

std::string json_report(const HeadsReport& report) {
  if (report.ablated) return json_ablation(report);
  const HeadValues& head_values = report.head_values;
  const HeadValueOptions& options = head_values.options;
  ordered_json json = json_document(kHeadsDocument, report, head_values.layers,
                                    report.head_names.empty() ? "attention" : "graph");
  if (!head_values.measured_on.empty()) json["device"] = head_values.measured_on;
  json["convention"] = name_of(report.convention);
  json["settings"] = json_settings(options.convention);
  HeadValueOptions echoed = options;
  visit_settings(echoed, SettingEcho(json["settings"]));
  if (std::any_of(head_values.layer_values.begin(), head_values.layer_values.end(),
                  [](const LayerHeadValues& layer_value) { return !layer_value.exact; }))
    json["settings"]["sampling"] = {{"seed", options.sampling.seed},
                                    {"precision", options.sampling.precision},
                                    {"max_permutations", options.sampling.max_permutations}};
  if (!report.head_names.empty()) json["head_names"] = report.head_names;
  if (!report.token_names.empty()) json["token_names"] = report.token_names;
  json["summary"] = heads_summary(report);
  json["layers"] = json_layers(report);
  if (report.stack) json["stack"] = json_stack(*report.stack);
  return json_text(json);
}

}  // namespace synergraph
