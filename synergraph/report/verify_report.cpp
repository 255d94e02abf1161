#include "synergraph/report/verify_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/core/version.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/table.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

std::vector<std::string> place(const VerifiedModel& model, std::size_t layer) {
  return {model.task, fmt::format("{}", model.heads), fmt::format("L{}", layer + 1)};
}

std::string plus_minus(double mean, double std, int decimals) {
  return fmt::format("{:.{}f} ± {:.{}f}", mean, decimals, std, decimals);
}

/// One of the two compared numbers of every layer.
std::string compared_table(const std::vector<VerifiedModel>& models,
                           ComparedValue VerifiedLayer::*value, int published_decimals) {
  Table table;
  table.header = {"task",       "heads",     "layer",     "published", "ours",
                  "difference", "std. err.", "deviation", "agrees"};
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const ComparedValue& v = model.layers[l].*value;
      std::vector<std::string> row = place(model, l);
      row.push_back(plus_minus(v.published.mean, v.published.std, published_decimals));
      row.push_back(plus_minus(v.mean, v.std, 4));
      row.push_back(fmt::format("{:+.4f}", v.difference));
      row.push_back(fmt::format("{:.4f}", v.standard_error));
      row.push_back(fmt::format("{:.2f}", v.deviation));
      row.emplace_back(v.agrees ? "yes" : "NO");
      table.rows.push_back(std::move(row));
    }
  return format_text(table);
}

std::string interval(const Interval& value, int decimals) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", value.estimate, decimals, value.low, decimals,
                     value.high, decimals);
}

std::string comparison_table(const std::vector<VerifiedModel>& models) {
  Table table;
  table.header = {"task", "heads",         "layer",   "published best",
                  "all",  "our best head", "our all", "sequences with synergy"};
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const VerifiedLayer& layer = model.layers[l];
      if (!layer.published_comparison) continue;
      std::vector<std::string> row = place(model, l);
      row.push_back(fmt::format("{:.2f}", layer.published_comparison->individual));
      row.push_back(fmt::format("{:.2f}", layer.published_comparison->combined));
      row.push_back(interval(layer.individual, 3));
      row.push_back(interval(layer.combined, 3));
      const Interval& share = layer.synergy_share;
      row.push_back(fmt::format("{:.0f} % [{:.0f}, {:.0f}]", 100.0 * share.estimate,
                                100.0 * share.low, 100.0 * share.high));
      table.rows.push_back(std::move(row));
    }
  return table.rows.empty() ? "" : format_text(table);
}

/// A time over sequences: its mean, and on how many there is none.
std::string time_cell(const Summary& summary) {
  if (summary.never == summary.samples) return "never";
  std::string text = human_time(summary.mean);
  if (summary.never > 0) text += fmt::format(" ({} never)", summary.never);
  return text;
}

std::string convention_table(const std::vector<VerifiedModel>& models,
                             const VerifyOptions& options) {
  const std::string mixing = fmt::format("mixing_time_{}", options.measure.eps.front());
  Table table;
  table.header = {"task",
                  "heads",
                  "layer",
                  "published time",
                  fmt::format("exact, cut {}", options.measure.cutoff),
                  "worst start",
                  "uncut mean",
                  fmt::format("T_mix({})", options.measure.eps.front()),
                  "published fid. %",
                  "exact fid. %"};
  for (const VerifiedModel& model : models)
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const LayerResult& published = model.measurement.published[l];
      const LayerResult& exact = model.measurement.exact[l];
      std::vector<std::string> row = place(model, l);
      row.push_back(human(published[kSpeedKey].mean));
      row.push_back(human(exact[kSpeedKey].mean));
      row.push_back(human(exact["truncated_hitting_max"].mean));
      row.push_back(time_cell(exact["hitting_mean"]));
      row.push_back(time_cell(exact[mixing]));
      row.push_back(human(100.0 * published[kFidelityKey].mean));
      row.push_back(human(100.0 * exact[kFidelityKey].mean));
      table.rows.push_back(std::move(row));
    }
  return format_text(table);
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

ordered_json json_compared(const ComparedValue& v) {
  return {{"published", {{"mean", v.published.mean}, {"std", v.published.std}}},
          {"ours", {{"mean", json_number(v.mean)}, {"std", json_number(v.std)}}},
          {"difference", json_number(v.difference)},
          {"standard_error", json_number(v.standard_error)},
          {"deviation", json_number(v.deviation)},
          {"agrees", v.agrees}};
}

}  // namespace

std::string format_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options) {
  std::string text = fmt::format(
      "The authors' models on {} random sequences (seed {}), published convention, against the "
      "paper's {}\n"
      "A cell agrees when the difference, less the rounding of the published value, is at most "
      "{:g} "
      "standard errors.\n",
      options.samples, options.seed, kPublishedSamples, kAgreement);
  for (const VerifiedModel& model : models)
    text += fmt::format("{}: accuracy {:.4f}\n", model.path, model.measurement.accuracy);
  text += "\nMixing time: mean hitting time, cut off at 100 steps\n" +
          compared_table(models, &VerifiedLayer::mixing_time, 4);
  text += "\nMinimax fidelity, per cent\n" + compared_table(models, &VerifiedLayer::fidelity, 2);
  const std::string comparison = comparison_table(models);
  if (!comparison.empty())
    text += fmt::format(
                "\nBest head against all heads, minimax fidelity in per cent: the paper's one "
                "sequence, our mean over {} with its 95 % interval\n",
                options.samples) +
            comparison;
  text +=
      "\nWhat the published convention hides: the same layers by the exact convention (columns "
      "normalised; fidelity over the sources, certified)\n" +
      convention_table(models, options);
  const Count times = count(models, &VerifiedLayer::mixing_time);
  const Count fidelities = count(models, &VerifiedLayer::fidelity);
  text += fmt::format("\n{} of {} mixing times and {} of {} fidelities agree with the paper.\n",
                      times.agree, times.all, fidelities.agree, fidelities.all);
  return text;
}

ordered_json json_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options) {
  ordered_json list = ordered_json::array();
  for (const VerifiedModel& model : models) {
    ordered_json layers = ordered_json::array();
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const VerifiedLayer& layer = model.layers[l];
      ordered_json json = {{"mixing_time", json_compared(layer.mixing_time)},
                           {"fidelity_percent", json_compared(layer.fidelity)},
                           {"best_head_percent", json_interval(layer.individual)},
                           {"combined_percent", json_interval(layer.combined)},
                           {"synergy_share", json_interval(layer.synergy_share)}};
      if (layer.published_comparison)
        json["published_single_sequence_percent"] = {
            {"individual", layer.published_comparison->individual},
            {"combined", layer.published_comparison->combined}};
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
  return {{"schema", "synergraph.verify"},
          {"schema_version", kSchemaVersion},
          {"program", std::string("synergraph ") + kVersion},
          {"samples", options.samples},
          {"seed", options.seed},
          {"agreement", kAgreement},
          {"models", std::move(list)}};
}

}  // namespace synergraph
