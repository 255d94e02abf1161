#include "synergraph/report/importance_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/report/importance_facts.h"
#include "synergraph/report/importance_summary.h"
#include "synergraph/report/input_parts.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// Version of the JSON layout; see docs/formats.md.
constexpr int kImportanceSchema = 2;

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

ordered_json json_value(const ValueCredit& credit, int samples) {
  ordered_json heads = ordered_json::array();
  for (std::size_t h = 0; h < credit.heads.size(); ++h) {
    const HeadCredit& head = credit.heads[h];
    heads.push_back({{"head", h},
                     {"shapley", json_estimate(head.shapley)},
                     {"banzhaf", json_estimate(head.banzhaf)},
                     {"alone", json_estimate(head.alone)},
                     {"dropped", json_estimate(head.dropped)}});
  }
  ordered_json best = ordered_json::array();
  for (std::size_t k = 0; k < credit.pruning.best.size(); ++k) {
    best.push_back(json_set(credit.pruning.best[k]));
    best.back()["certified"] = static_cast<bool>(credit.pruning.certified[k]);
  }
  const CreditFacts facts = credit_facts(credit, samples);
  ordered_json json = {{"value", name_of(credit.value)},
                       {"all", json_estimate(credit.all)},
                       {"gap", json_number(credit.gap)},
                       {"heads", std::move(heads)},
                       {"carriers", {{"heads", facts.carriers}, {"share", facts.carried}}},
                       {"better_without", facts.harmful},
                       {"pairs", json_interactions(credit.pairs)},
                       {"triples", json_interactions(credit.triples)},
                       {"pruning",
                        {{"samples", credit.pruning.samples},
                         {"best", std::move(best)},
                         {"greedy_addition", json_path(credit.pruning.addition)},
                         {"greedy_removal", json_path(credit.pruning.removal)},
                         {"shapley", json_path(credit.pruning.shapley)}}},
                       {"smallest", json_set(credit.smallest)},
                       {"beating", credit.beating},
                       {"better", credit.better ? json_set(*credit.better) : ordered_json()}};
  if (credit.weights) json["best_weights"] = json_weights(*credit.weights, credit.weight_samples);
  return json;
}

ordered_json json_layer(const Importance& importance, std::size_t l) {
  const AttentionLayer& layer = importance.layers[l];
  const LayerCredit& credit = importance.credits[l];
  ordered_json values = ordered_json::array();
  for (const ValueCredit& value : credit.values) values.push_back(json_value(value, layer.samples));
  return {{"name", layer.name},        {"samples", layer.samples},
          {"tokens", layer.tokens},    {"weights", importance.weights[l]},
          {"exact", credit.exact},     {"permutations", credit.permutations},
          {"precise", credit.precise}, {"values", std::move(values)}};
}

ordered_json json_stack(const StackAnalysis& stack) {
  const auto estimates = [](const std::vector<Estimate>& numbers) {
    ordered_json list = ordered_json::array();
    for (const Estimate& number : numbers) list.push_back(json_estimate(number));
    return list;
  };
  ordered_json layers = ordered_json::array();
  for (std::size_t l = 0; l < stack.flows.size(); ++l)
    layers.push_back({{"name", stack.layers[l].name},
                      {"residual", json_estimate(stack.flows[l].residual)},
                      {"heads", estimates(stack.flows[l].heads)}});
  return {{"residual", stack.options.residual},
          {"token", stack.options.token ? ordered_json(*stack.options.token) : ordered_json()},
          {"samples", stack.samples},
          {"without_signal", stack.without_signal},
          {"fidelity", json_estimate(stack.fidelity)},
          {"effective_tokens", json_estimate(stack.effective_tokens)},
          {"signal", estimates(stack.signal)},
          {"weakest", stack.weakest},
          {"layers", std::move(layers)}};
}

}  // namespace

Table csv_table(const ImportanceReport& report) {
  const Importance& importance = report.importance;
  Table table;
  table.header = {"layer", "value", "head", "weight"};
  for (const char* name : {"shapley", "banzhaf", "alone", "dropped"}) {
    table.header.emplace_back(name);
    table.header.push_back(fmt::format("{}_error", name));
  }
  for (const char* title : {"in_smallest", "best_weight", "all", "all_error", "exact",
                            "stack_share", "stack_share_error"})
    table.header.emplace_back(title);
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  for (std::size_t l = 0; l < importance.credits.size(); ++l)
    for (const ValueCredit& credit : importance.credits[l].values)
      for (std::size_t h = 0; h < credit.heads.size(); ++h) {
        const HeadCredit& head = credit.heads[h];
        const auto number = static_cast<int>(h);
        std::vector<std::string>& row = table.rows.emplace_back(std::vector<std::string>{
            importance.layers[l].name, std::string(name_of(credit.value)),
            report.head_names.empty() ? fmt::format("{}", h) : report.head_names[h],
            exact(importance.weights[l][h])});
        const auto add = [&](const Estimate& estimate) {
          row.push_back(exact(estimate.mean));
          row.push_back(exact(estimate.error));
        };
        for (const Estimate& estimate : {head.shapley, head.banzhaf, head.alone, head.dropped})
          add(estimate);
        row.push_back(truth(std::find(credit.smallest.heads.begin(), credit.smallest.heads.end(),
                                      number) != credit.smallest.heads.end()));
        row.push_back(credit.weights ? exact(credit.weights->weights[h]) : std::string());
        add(credit.all);
        row.push_back(truth(importance.credits[l].exact));
        if (report.stack && !report.stack->flows.empty()) add(report.stack->flows[l].heads[h]);
        row.resize(table.header.size());
      }
  return table;
}

std::string json_report(const ImportanceReport& report) {
  const Importance& importance = report.importance;
  const ImportanceOptions& options = importance.options;
  ordered_json layers = ordered_json::array();
  for (std::size_t l = 0; l < importance.credits.size(); ++l)
    layers.push_back(json_layer(importance, l));
  ordered_json json =
      json_document("synergraph.heads", kImportanceSchema, report, importance.layers,
                    report.head_names.empty() ? "attention" : "graph");
  json["convention"] = name_of(report.convention);
  json["settings"] = json_settings(options.convention);
  json["settings"]["keep"] = options.keep;
  json["settings"]["exact_heads"] = options.exact_heads;
  if (std::any_of(importance.credits.begin(), importance.credits.end(),
                  [](const LayerCredit& credit) { return !credit.exact; }))
    json["settings"]["sampling"] = {{"seed", options.sampling.seed},
                                    {"precision", options.sampling.precision},
                                    {"max_permutations", options.sampling.max_permutations}};
  if (!report.head_names.empty()) json["head_names"] = report.head_names;
  if (!report.token_names.empty()) json["token_names"] = report.token_names;
  json["summary"] = importance_summary(report);
  json["layers"] = std::move(layers);
  if (report.stack) json["stack"] = json_stack(*report.stack);
  return json_text(json);
}

}  // namespace synergraph
