#include "synergraph/report/verify_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/report/documents.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/study_number.h"
#include "synergraph/report/table.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// The paper prints fidelities in per cent, and so do the tables that stand beside its own.
constexpr double kPercent = 0.01;

std::vector<std::string> place(const VerifiedModel& model, std::size_t layer) {
  return {model.task, fmt::format("{}", model.heads), fmt::format("L{}", layer + 1)};
}

std::string plus_minus(double mean, double std, int decimals) {
  return fmt::format("{:.{}f} ± {:.{}f}", mean, decimals, std, decimals);
}

/// A table whose rows are layers of models: their first cells are place().
Table layers_table(const std::vector<std::string>& titles) {
  Table table;
  table.key_columns = 3;
  table.header = {"task", "heads", "layer"};
  table.header.insert(table.header.end(), titles.begin(), titles.end());
  return table;
}

/// One of the two compared numbers of every layer, in a unit such as " %".
Table compared_table(const std::vector<VerifiedModel>& models, ComparedValue VerifiedLayer::*value,
                     const Quantity& quantity, const std::string& unit) {
  Table table = layers_table({"published" + unit, "ours" + unit, "difference" + unit,
                              "std. err." + unit, "deviation", "agrees"});
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const ComparedValue& v = model.layers[l].*value;
      std::vector<std::string> row = place(model, l);
      row.push_back(plus_minus(v.published.mean, v.published.std, published_decimals(quantity)));
      row.push_back(plus_minus(v.mean, v.std, 4));
      row.push_back(fmt::format("{:+.4f}", v.difference));
      row.push_back(fmt::format("{:.4f}", v.standard_error));
      row.push_back(fmt::format("{:.2f}", v.deviation));
      row.emplace_back(v.agrees ? "yes" : "NO");
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::string interval(const Interval& value, int decimals) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", value.estimate, decimals, value.low, decimals,
                     value.high, decimals);
}

Table comparison_table(const std::vector<VerifiedModel>& models) {
  Table table = layers_table(
      {"published best %", "all %", "our best head %", "our all %", "sequences with synergy"});
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const VerifiedLayer& layer = model.layers[l];
      if (!layer.published_comparison) continue;
      std::vector<std::string> row = place(model, l);
      row.push_back(fmt::format("{:.2f}", layer.published_comparison->individual));
      row.push_back(fmt::format("{:.2f}", layer.published_comparison->combined));
      row.push_back(interval(layer.individual, 3));
      row.push_back(interval(layer.combined, 3));
      row.push_back(with_interval(layer.synergy));
      table.rows.push_back(std::move(row));
    }
  return table;
}

/// A time over sequences: its mean, and on how many there is none.
std::string time_cell(const Summary& summary) {
  if (summary.never == summary.samples) return "never";
  std::string text = human_time(summary.mean);
  if (summary.never > 0) text += fmt::format(" ({} never)", summary.never);
  return text;
}

Table convention_table(const std::vector<VerifiedModel>& models, const VerifyOptions& options) {
  const double eps = options.measure.eps.front();
  Table table = layers_table(
      {"published time", fmt::format("exact, cut {}", options.measure.cutoff), "worst start",
       "uncut mean", fmt::format("T_mix({})", eps), "published fid.", "exact fid."});
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const LayerSummary& published = model.measurement.published[l];
      const LayerSummary& exact = model.measurement.exact[l];
      std::vector<std::string> row = place(model, l);
      row.push_back(human(published[Quantity::kTruncatedHittingMean].mean));
      row.push_back(human(exact[Quantity::kTruncatedHittingMean].mean));
      row.push_back(human(exact[Quantity::kTruncatedHittingMax].mean));
      row.push_back(time_cell(exact[Quantity::kHittingMean]));
      row.push_back(time_cell(exact[Quantity::mixing_time(eps)]));
      row.push_back(human(published[Quantity::kMinimaxFidelity].mean));
      row.push_back(human(exact[Quantity::kMinimaxFidelity].mean));
      table.rows.push_back(std::move(row));
    }
  return table;
}

struct Count {
  int agree = 0;
  int all = 0;
};

Count count(const std::vector<VerifiedModel>& models, ComparedValue VerifiedLayer::*value) {
  Count result;
  for (const VerifiedModel& model : models)
    for (const VerifiedLayer& layer : model.layers) {
      ++result.all;
      if ((layer.*value).agrees) ++result.agree;
    }
  return result;
}

ordered_json json_compared(const ComparedValue& v, double unit) {
  const auto number = [&](double value) { return json_number(unit * value); };
  return {{"published", {{"mean", number(v.published.mean)}, {"std", number(v.published.std)}}},
          {"ours", {{"mean", number(v.mean)}, {"std", number(v.std)}}},
          {"difference", number(v.difference)},
          {"standard_error", number(v.standard_error)},
          {"deviation", json_number(v.deviation)},
          {"agrees", v.agrees}};
}

ordered_json json_percent(const Interval& interval) {
  return json_interval(
      {kPercent * interval.estimate, kPercent * interval.low, kPercent * interval.high});
}

}  // namespace

std::string format_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options,
                          std::size_t columns) {
  std::string text = fmt::format(
      "The authors' models on {} random sequences (seed {}), published convention, against the "
      "paper's {}\n"
      "A cell agrees when the difference, less the rounding of the published value, is at most "
      "{:g} "
      "standard errors.\n",
      options.samples, options.seed, kPublishedSamples, kAgreement);
  for (const VerifiedModel& model : models)
    text += fmt::format("{}: accuracy {:.4f}\n", printable(model.path), model.measurement.accuracy);
  text = wrapped(text, columns, 2);
  const auto add = [&](const std::string& title, const Table& table) {
    if (!table.rows.empty())
      text += '\n' + wrapped(title + '\n', columns, 2) + format_text(table, columns);
  };
  add("Mixing time: mean hitting time, cut off at 100 steps",
      compared_table(models, &VerifiedLayer::mixing_time, Quantity::kTruncatedHittingMean, ""));
  add("Minimax fidelity in %, as the paper prints it",
      compared_table(models, &VerifiedLayer::fidelity, Quantity::kMinimaxFidelity, " %"));
  add(fmt::format("Best head against all heads, minimax fidelity in %: the paper's one sequence, "
                  "our mean over {} with its 95 % interval",
                  options.samples),
      comparison_table(models));
  add("What the published convention hides: the same layers by the exact convention (columns "
      "normalised; fidelity over the sources, certified; as a fraction)",
      convention_table(models, options));
  const Count times = count(models, &VerifiedLayer::mixing_time);
  const Count fidelities = count(models, &VerifiedLayer::fidelity);
  text +=
      wrapped(fmt::format("\n{} of {} mixing times and {} of {} fidelities agree with the paper.\n",
                          times.agree, times.all, fidelities.agree, fidelities.all),
              columns, 2);
  return text;
}

std::string json_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options) {
  ordered_json list = ordered_json::array();
  for (const VerifiedModel& model : models) {
    ordered_json layers = ordered_json::array();
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const VerifiedLayer& layer = model.layers[l];
      ordered_json json = {{"layer", l + 1},
                           {"mixing_time", json_compared(layer.mixing_time, 1.0)},
                           {"fidelity", json_compared(layer.fidelity, kPercent)},
                           {"best_head_fidelity", json_percent(layer.individual)},
                           {"combined_fidelity", json_percent(layer.combined)},
                           {"synergy_share", json_interval(share_interval(layer.synergy))}};
      if (layer.published_comparison)
        json["published_single_sequence"] = {
            {"best_head_fidelity", kPercent * layer.published_comparison->individual},
            {"combined_fidelity", kPercent * layer.published_comparison->combined}};
      json["exact"] = json_layer(model.measurement.exact[l]);
      json["published"] = json_layer(model.measurement.published[l]);
      layers.push_back(std::move(json));
    }
    list.push_back({{"task", model.task},
                    {"heads", model.heads},
                    {"accuracy", model.measurement.accuracy},
                    {"agrees", model.agrees()},
                    {"layers", std::move(layers)}});
  }
  return json_text(document_of(kVerifyDocument, {{"samples", options.samples},
                                                 {"seed", options.seed},
                                                 {"agreement", kAgreement},
                                                 {"models", std::move(list)}}));
}

}  // namespace synergraph
