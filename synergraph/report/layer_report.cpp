#include "synergraph/report/layer_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// Version of the JSON layout; see docs/formats.md.
constexpr int kSchemaVersion = 2;

/// The columns that were measured, by their keys.
ordered_json json_columns(const std::vector<SampleColumn>& columns,
                          const std::vector<Summary>& summaries) {
  ordered_json json = ordered_json::object();
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (summaries[k].undefined < summaries[k].samples)
      json[columns[k].key] = json_summary(summaries[k]);
  return json;
}

ordered_json json_layer(const LayerReport& report, std::size_t c, std::size_t l) {
  const MetricsOptions& options = report.analysis.conventions[c];
  const AttentionLayer& layer = report.analysis.layers[l];
  const std::vector<SampleColumn> columns = sample_columns(options);
  const LayerSummary summary = summarise_layer(report.analysis.samples[c][l], options);
  ordered_json heads = ordered_json::array();
  for (std::size_t h = 0; h < summary.heads.size(); ++h) {
    ordered_json head = {{"head", h},
                         {"weight", report.analysis.weights[l][h]},
                         {"best_share", summary.best_share[h]}};
    head.update(json_columns(columns, summary.heads[h]));
    heads.push_back(std::move(head));
  }
  ordered_json json = {{"name", layer.name},
                       {"samples", layer.samples},
                       {"tokens", layer.tokens},
                       {"combined", json_columns(columns, summary.combined)},
                       {"best_head", summary.best_head},
                       {"best_head_undecided", summary.best_head_undecided},
                       {"best_head_fidelity", json_summary(summary.best_head_fidelity)},
                       {"synergy", json_summary(summary.synergy)},
                       {"synergy_share", summary.synergy_share},
                       {"synergy_undecided", summary.synergy_undecided},
                       {"cross_head_share", json_summary(summary.cross_head_share)}};
  if (options.per_head_walks) {
    json["mixing_synergy"] = json_summary(summary.mixing_synergy);
    json["effective_forward_probability"] = json_summary(summary.effective_forward_probability);
  }
  json["heads"] = std::move(heads);
  return json;
}

/// "12.34 ± 0.56", and how often never.
std::string cell(const Summary& summary, bool time) {
  const auto shown = [&](double value) { return time ? human_time(value) : human(value); };
  if (summary.never + summary.undefined == summary.samples)
    return summary.never == summary.samples ? (time ? "never" : "inf") : "-";
  std::string text = shown(summary.mean);
  if (summary.samples > 1) text += fmt::format(" ± {}", human(summary.std, 2));
  if (summary.never > 0) text += fmt::format(" ({} {})", summary.never, time ? "never" : "inf");
  if (summary.undefined > 0) text += fmt::format(" ({} none)", summary.undefined);
  return text;
}

/// The minimax fidelity; the interval's width where samples were not certified.
std::string fidelity_cell(const Summary& lower, const Summary& upper) {
  std::string text = cell(lower, false);
  if (upper.mean > lower.mean) text += fmt::format(" (to {})", human(upper.mean));
  return text;
}

struct TextColumn {
  std::string title;
  std::size_t index;  ///< in sample_columns()
};

/// The times of a table, without those that are "never" in all of its rows.
std::vector<TextColumn> time_columns(const MetricsOptions& options,
                                     const std::vector<const std::vector<Summary>*>& rows,
                                     std::string& left_out) {
  std::vector<TextColumn> all = {
      {fmt::format("hit cut {}", options.walk.cutoff), 1}, {"hit mean", 3}, {"hit max", 4}};
  for (std::size_t k = 0; k < options.walk.eps.size(); ++k)
    all.push_back({fmt::format("T_mix({})", options.walk.eps[k]), 5 + k});
  std::vector<TextColumn> shown;
  for (const TextColumn& column : all) {
    const bool never = std::all_of(rows.begin(), rows.end(), [&](const auto* row) {
      return (*row)[column.index].never == (*row)[column.index].samples;
    });
    if (never)
      left_out += (left_out.empty() ? "" : ", ") + column.title;
    else
      shown.push_back(column);
  }
  return shown;
}

std::string left_out_line(const std::string& left_out) {
  return left_out.empty() ? "" : fmt::format("never, on every sample: {}\n", left_out);
}

std::string layer_table(const LayerReport& report, const MetricsOptions& options,
                        const std::vector<LayerSummary>& layers, std::size_t columns) {
  std::vector<const std::vector<Summary>*> rows;
  rows.reserve(layers.size());
  for (const LayerSummary& layer : layers) rows.push_back(&layer.combined);
  std::string left_out;
  const std::vector<TextColumn> times = time_columns(options, rows, left_out);
  const std::size_t fidelity = 5 + options.walk.eps.size();
  Table table;
  table.header = {"layer"};
  for (const TextColumn& column : times) table.header.push_back(column.title);
  for (const char* title :
       {"fidelity", "best head", "its fidelity", "synergy", "present", "cross-head"})
    table.header.emplace_back(title);
  if (options.per_head_walks) table.header.emplace_back("mixing synergy");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const LayerSummary& layer = layers[l];
    std::vector<std::string> row = {report.analysis.layers[l].name};
    for (const TextColumn& column : times) row.push_back(cell(layer.combined[column.index], true));
    const auto best = static_cast<std::size_t>(layer.best_head);
    const double share = layer.best_share[best];
    row.push_back(fidelity_cell(layer.combined[fidelity], layer.combined[fidelity + 1]));
    row.push_back(share == 1.0 ? fmt::format("{}", best)
                               : fmt::format("{} ({:.0f} %)", best, 100.0 * share));
    if (layer.best_head_undecided > 0)
      row.back() += fmt::format(" ({} undecided)", layer.best_head_undecided);
    row.push_back(cell(layer.best_head_fidelity, false));
    row.push_back(cell(layer.synergy, false));
    row.push_back(fmt::format("{:.0f} %", 100.0 * layer.synergy_share));
    if (layer.synergy_undecided > 0)
      row.back() += fmt::format(" ({} undecided)", layer.synergy_undecided);
    row.push_back(cell(layer.cross_head_share, false));
    if (options.per_head_walks) row.push_back(cell(layer.mixing_synergy, false));
    table.rows.push_back(std::move(row));
  }
  return format_text(table, columns) + wrapped(left_out_line(left_out), columns, 2);
}

std::string head_table(const LayerReport& report, const MetricsOptions& options,
                       const std::vector<LayerSummary>& layers, std::size_t columns) {
  std::vector<const std::vector<Summary>*> rows;
  for (const LayerSummary& layer : layers)
    for (const std::vector<Summary>& head : layer.heads) rows.push_back(&head);
  std::string left_out;
  const std::vector<TextColumn> times = time_columns(options, rows, left_out);
  const std::size_t fidelity = 5 + options.walk.eps.size();
  Table table;
  table.key_columns = 2;
  table.header = {"layer", "head", "weight", "p"};
  for (const TextColumn& column : times) table.header.push_back(column.title);
  for (const char* title : {"fidelity", "best in"}) table.header.emplace_back(title);
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t h = 0; h < layers[l].heads.size(); ++h) {
      const std::vector<Summary>& head = layers[l].heads[h];
      std::vector<std::string> row = {report.analysis.layers[l].name, fmt::format("{}", h),
                                      human(report.analysis.weights[l][h]), cell(head[0], false)};
      for (const TextColumn& column : times) row.push_back(cell(head[column.index], true));
      row.push_back(fidelity_cell(head[fidelity], head[fidelity + 1]));
      row.push_back(fmt::format("{:.0f} %", 100.0 * layers[l].best_share[h]));
      table.rows.push_back(std::move(row));
    }
  return format_text(table, columns) + wrapped(left_out_line(left_out), columns, 2);
}

std::string convention_title(Convention convention, const MetricsOptions& options) {
  return fmt::format("{}: {} walk, fidelity as a fraction over {} ({})\n", name_of(convention),
                     name_of(options.normalization), name_of(options.fidelity.nodes),
                     horizon_text(options.fidelity));
}

/// "12 heads", or "4 to 12 heads" where the layers differ.
std::string counted(const std::vector<AttentionLayer>& layers, int AttentionLayer::*count,
                    const char* what) {
  const std::string range = count_range(layers, count);
  return fmt::format("{} {}{}", range, what, range == "1" ? "" : "s");
}

}  // namespace

std::string format_report(const LayerReport& report, std::size_t columns) {
  const Analysis& analysis = report.analysis;
  std::string text =
      fmt::format("{} layer{}, {}, {} of {}, {} head weights\n", analysis.layers.size(),
                  analysis.layers.size() == 1 ? "" : "s",
                  counted(analysis.layers, &AttentionLayer::samples, "sample"),
                  counted(analysis.layers, &AttentionLayer::heads, "head"),
                  counted(analysis.layers, &AttentionLayer::tokens, "token"), report.weights);
  if (!report.reading.empty()) text += report.reading + '\n';
  if (report.model && report.heads_from_name)
    text += fmt::format("heads: {}, from the file's name (--heads says otherwise)\n",
                        report.model->heads);
  if (report.evaluation)
    text += fmt::format("task {}: accuracy {:.4f}, loss {:.6g}\n", report.task,
                        report.evaluation->accuracy, report.evaluation->loss);
  text = wrapped(text, columns, 2);
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c) {
    const MetricsOptions& options = analysis.conventions[c];
    std::vector<LayerSummary> layers;
    for (const auto& samples : analysis.samples[c])
      layers.push_back(summarise_layer(samples, options));
    text += '\n' + wrapped(convention_title(report.conventions[c], options), columns, 2) +
            layer_table(report, options, layers, columns);
    if (report.per_head) text += '\n' + head_table(report, options, layers, columns);
  }
  return text;
}

Table csv_table(const LayerReport& report) {
  const Analysis& analysis = report.analysis;
  const std::vector<SampleColumn> columns = sample_columns(analysis.conventions.front());
  Table table;
  table.header = {"convention", "layer", "sample", "head", "weight"};
  for (const SampleColumn& column : columns) table.header.push_back(column.key);
  for (const char* title :
       {"minimax_node", "best_head", "best_head_fidelity", "synergy", "mixing_synergy",
        "cross_head_share", "best_head_decided", "synergy_lower", "synergy_upper"})
    table.header.emplace_back(title);
  const std::size_t width = table.header.size();
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c)
    for (std::size_t l = 0; l < analysis.layers.size(); ++l)
      for (std::size_t s = 0; s < analysis.samples[c][l].size(); ++s) {
        const HeadsMetrics& sample = analysis.samples[c][l][s];
        const auto row = [&](const std::string& head, double weight, const Metrics& m) {
          std::vector<std::string> cells = {std::string(name_of(report.conventions[c])),
                                            analysis.layers[l].name, fmt::format("{}", s), head,
                                            exact(weight)};
          for (const SampleColumn& column : columns) cells.push_back(exact(column.value(m)));
          cells.push_back(fmt::format("{}", m.fidelity.minimax_node));
          return cells;
        };
        if (report.per_head)
          for (std::size_t h = 0; h < sample.heads.size(); ++h) {
            table.rows.push_back(
                row(fmt::format("{}", h), analysis.weights[l][h], sample.heads[h]));
            table.rows.back().resize(width);
          }
        std::vector<std::string> all = row("combined", 1.0, sample.combined);
        const Synergy& synergy = sample.synergy;
        all.push_back(fmt::format("{}", synergy.best_head));
        for (const double value : {synergy.best_head_fidelity, synergy.value, sample.mixing_synergy,
                                   sample.cross_head_share})
          all.push_back(exact(value));
        all.emplace_back(synergy.best_head_decided ? "true" : "false");
        for (const double value : {synergy.lower, synergy.upper}) all.push_back(exact(value));
        table.rows.push_back(std::move(all));
      }
  return table;
}

ordered_json json_report(const LayerReport& report) {
  ordered_json conventions = ordered_json::array();
  for (std::size_t c = 0; c < report.conventions.size(); ++c) {
    const MetricsOptions& options = report.analysis.conventions[c];
    ordered_json layers = ordered_json::array();
    for (std::size_t l = 0; l < report.analysis.layers.size(); ++l)
      layers.push_back(json_layer(report, c, l));
    conventions.push_back({{"convention", name_of(report.conventions[c])},
                           {"settings", json_settings(options)},
                           {"layers", std::move(layers)}});
  }
  ordered_json json = {
      {"schema", "synergraph.analyze"},
      {"schema_version", kSchemaVersion},
      {"program", std::string("synergraph ") + kVersion},
      {"isa", instruction_set()},
      {"source", report.model ? "model" : "attention"},
      {"weights", report.weights},
      {"range",
       {report.range.begin, report.range.end ? ordered_json(*report.range.end) : ordered_json()}}};
  if (report.model) {
    const ModelConfig& model = *report.model;
    json["model"] = {{"vocabulary", model.vocabulary}, {"length", model.length},
                     {"width", model.width},           {"heads", model.heads},
                     {"layers", model.layers},         {"hidden", model.hidden}};
    if (report.heads_from_name) json["model"]["heads_from"] = "file name";
  }
  if (report.evaluation)
    json["task"] = {{"name", report.task},
                    {"accuracy", report.evaluation->accuracy},
                    {"loss", report.evaluation->loss}};
  json["conventions"] = std::move(conventions);
  return json;
}

}  // namespace synergraph
