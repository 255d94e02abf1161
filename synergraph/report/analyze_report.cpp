#include "synergraph/report/analyze_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/report/input_parts.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// The numbers of one system that were measured, by their keys.
ordered_json json_numbers(const Numbers& numbers, const MetricsOptions& options) {
  ordered_json json = ordered_json::object();
  for (const Quantity& quantity : system_quantities(options.walk.eps, options.backward)) {
    const Summary& summary = numbers.at(quantity);
    if (summary.undefined < summary.samples) json[key_of(quantity)] = json_summary(summary);
  }
  return json;
}

ordered_json json_layer(const AnalyzeReport& report, std::size_t c, std::size_t l) {
  const MetricsOptions& options = report.analysis.conventions[c];
  const AttentionLayer& layer = report.analysis.layers[l];
  const MeasuredLayer& measured = report.analysis.summaries[c][l];
  const LayerSummary& all = measured.all;
  ordered_json heads = ordered_json::array();
  for (std::size_t h = 0; h < measured.heads.size(); ++h) {
    ordered_json head = {{"head", h},
                         {"weight", report.analysis.weights[l][h]},
                         {"best_share", measured.heads[h].best.value()}};
    head.update(json_numbers(measured.heads[h].numbers, options));
    heads.push_back(std::move(head));
  }
  ordered_json json = {{"name", layer.name}, {"samples", layer.samples}};
  if (layer.sinks > 1) json["sinks"] = layer.sinks;
  json.update(ordered_json{{"tokens", layer.tokens},
                           {"combined", json_numbers(all.numbers, options)},
                           {"best_head", measured.best_head},
                           {"best_head_undecided", measured.best_head_undecided},
                           {"synergy_share", all.synergy_share().value()},
                           {"synergy_undecided", all.synergy_undecided}});
  for (const Quantity& quantity : comparing_quantities(options.per_head_walks))
    json[key_of(quantity)] = json_summary(all[quantity]);
  json["heads"] = std::move(heads);
  return json;
}

/// "12.34 ± 0.56", and how often never.
std::string cell(const Numbers& numbers, const Quantity& quantity) {
  const Summary& summary = numbers.at(quantity);
  const bool time = quantity.is_time();
  const auto shown = [&](double value) { return time ? human_time(value) : human(value); };
  if (summary.never + summary.undefined == summary.samples)
    return summary.never == summary.samples ? (time ? "never" : "inf") : "-";
  std::string text = shown(summary.mean);
  if (summary.samples > 1) text += fmt::format(" ± {}", human(summary.std, 2));
  if (summary.never > 0) text += fmt::format(" ({} {})", summary.never, time ? "never" : "inf");
  if (summary.undefined > 0) text += fmt::format(" ({} none)", summary.undefined);
  return text;
}

/// The same, and the upper end where samples were not certified.
std::string range_cell(const Numbers& numbers, const Quantity& quantity) {
  std::string text = cell(numbers, quantity);
  const std::optional<Quantity> end = upper_end(quantity);
  if (end && numbers.at(*end).mean > numbers.at(quantity).mean)
    text += fmt::format(" (to {})", human(numbers.at(*end).mean));
  return text;
}

std::string heading(std::string_view key) {
  return std::string(row_of(key).heading);
}

/// A row of a table: cells, then its times and fidelity, then other cells.
struct Row {
  std::vector<std::string> begin;
  const Numbers& numbers;
  std::vector<std::string> end;
};

/// The table of these rows, whose header has the titles of their first cells, without the times
/// that are "never" in all of them.
std::string format_rows(Table table, const std::vector<std::string>& end_titles,
                        const std::vector<Row>& rows, const MetricsOptions& measured,
                        std::size_t columns) {
  const bool of_heads = table.key_columns > 1;
  const WalkOptions& options = measured.walk;
  std::vector<Quantity> shown = system_quantities(options.eps, measured.backward);
  std::string left_out;
  std::erase_if(shown, [&](const Quantity& quantity) {
    if (!quantity.row().column || (quantity == Quantity::kForwardProbability && !of_heads))
      return true;
    const bool never = std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
      const Summary& summary = row.numbers.at(quantity);
      return quantity.is_time() && summary.never == summary.samples;
    });
    if (never) left_out += (left_out.empty() ? "" : ", ") + heading_of(quantity, options.cutoff);
    return never;
  });
  for (const Quantity& quantity : shown)
    table.header.push_back(heading_of(quantity, options.cutoff));
  table.header.insert(table.header.end(), end_titles.begin(), end_titles.end());
  for (const Row& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back(row.begin);
    for (const Quantity& quantity : shown) cells.push_back(range_cell(row.numbers, quantity));
    cells.insert(cells.end(), row.end.begin(), row.end.end());
  }
  if (!left_out.empty()) left_out = fmt::format("never, on every sample: {}\n", left_out);
  return format_text(table, columns) + wrapped(left_out, columns, 2);
}

std::string layer_table(const AnalyzeReport& report, std::size_t c, std::size_t columns) {
  const MetricsOptions& options = report.analysis.conventions[c];
  std::vector<Quantity> shown = comparing_quantities(options.per_head_walks);
  std::erase_if(shown, [](const Quantity& quantity) { return !quantity.row().column; });
  std::vector<std::string> titles = {heading("best_head")};
  for (const Quantity& quantity : shown) {
    titles.push_back(heading_of(quantity, options.walk.cutoff));
    if (quantity == Quantity::kSynergy) titles.push_back(heading("synergy_share"));
  }
  std::vector<Row> rows;
  for (std::size_t l = 0; l < report.analysis.layers.size(); ++l) {
    const MeasuredLayer& layer = report.analysis.summaries[c][l];
    const LayerSummary& all = layer.all;
    const Share& best = layer.heads[static_cast<std::size_t>(layer.best_head)].best;
    std::string head = fmt::format("{}", layer.best_head);
    if (best.successes < best.trials) head += fmt::format(" ({:.0f} %)", 100.0 * best.value());
    if (layer.best_head_undecided > 0)
      head += fmt::format(" ({} undecided)", layer.best_head_undecided);
    std::string present = fmt::format("{:.0f} %", 100.0 * all.synergy_share().value());
    if (all.synergy_undecided > 0) present += fmt::format(" ({} undecided)", all.synergy_undecided);
    rows.push_back({{report.analysis.layers[l].name}, all.numbers, {head}});
    for (const Quantity& quantity : shown) {
      rows.back().end.push_back(cell(all.numbers, quantity));
      if (quantity == Quantity::kSynergy) rows.back().end.push_back(present);
    }
  }
  return format_rows({{"layer"}, {}}, titles, rows, options, columns);
}

std::string head_table(const AnalyzeReport& report, std::size_t c, std::size_t columns) {
  std::vector<Row> rows;
  for (std::size_t l = 0; l < report.analysis.layers.size(); ++l) {
    const std::vector<HeadSummary>& heads = report.analysis.summaries[c][l].heads;
    for (std::size_t h = 0; h < heads.size(); ++h)
      rows.push_back({{report.analysis.layers[l].name, fmt::format("{}", h),
                       human(report.analysis.weights[l][h])},
                      heads[h].numbers,
                      {fmt::format("{:.0f} %", 100.0 * heads[h].best.value())}});
  }
  Table table{{"layer", "head", heading("weight")}, {}};
  table.key_columns = 2;
  return format_rows(table, {heading("best_share")}, rows, report.analysis.conventions[c], columns);
}

/// Mixing times of which only bounds are known: of slow heads that do not fit into memory.
std::string bounded_times(const AnalyzeReport& report, std::size_t c) {
  constexpr int kShown = 8;
  const Analysis& analysis = report.analysis;
  const std::vector<double>& eps = analysis.conventions[c].walk.eps;
  std::string text;
  int count = 0;
  for (std::size_t l = 0; l < analysis.layers.size(); ++l)
    for (std::size_t s = 0; s < analysis.samples[c][l].size(); ++s) {
      const auto add = [&](const std::string& which, const WalkSummary& walk) {
        for (std::size_t k = 0; k < walk.mixing_least.size(); ++k) {
          if (!(walk.mixing_least[k] < walk.mixing_most[k]) || ++count > kShown) continue;
          const std::string sample =
              analysis.samples[c][l].size() > 1 ? fmt::format(", sample {}", s) : "";
          text += fmt::format("T_mix({}) of layer {}{}, {}: between {} and {}\n", eps[k],
                              analysis.layers[l].name, sample, which,
                              human_time(walk.mixing_least[k]), human_time(walk.mixing_most[k]));
        }
      };
      const HeadsMetrics& measured = analysis.samples[c][l][s];
      for (std::size_t h = 0; h < measured.heads.size() && measured.heads.size() > 1; ++h)
        add(fmt::format("head {}", h), measured.heads[h].walk);
      add("all heads", measured.combined.walk);
    }
  if (count > kShown) text += fmt::format("and {} more\n", count - kShown);
  if (count > 0)
    text += "these walks are too slow to follow for heads that do not fit into the memory limit\n";
  return text;
}

/// What numbers are over several sinks, and what ± stands for.
std::string spread_text(const std::vector<AttentionLayer>& layers) {
  const int sinks = layers.front().sinks;
  std::string text;
  if (sinks > 1) text = fmt::format("numbers of a sample are means over its {} sinks\n", sinks);
  if (std::any_of(layers.begin(), layers.end(),
                  [](const AttentionLayer& layer) { return layer.samples > layer.sinks; }))
    text += "± is the standard deviation over samples\n";
  return text;
}

}  // namespace

std::string format_report(const AnalyzeReport& report, std::size_t columns) {
  const Analysis& analysis = report.analysis;
  std::string text = input_text(report, analysis.layers);
  if (!analysis.measured_on.empty()) text += fmt::format("measured on {}\n", analysis.measured_on);
  text += spread_text(analysis.layers);
  text = wrapped(text, columns, 2);
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c) {
    text += '\n' +
            wrapped(convention_text(report.conventions[c], analysis.conventions[c]), columns, 2) +
            layer_table(report, c, columns) + wrapped(bounded_times(report, c), columns, 2);
    if (report.per_head) text += '\n' + head_table(report, c, columns);
  }
  return text;
}

Table csv_table(const AnalyzeReport& report) {
  const Analysis& analysis = report.analysis;
  const std::vector<double>& eps = analysis.conventions.front().walk.eps;
  const std::vector<Quantity> quantities =
      system_quantities(eps, analysis.conventions.front().backward);
  const std::vector<Quantity> of_layer = comparing_quantities(true);
  Table table;
  table.header = {"convention", "layer", "sample", "head", "weight"};
  for (const Quantity& quantity : quantities) table.header.push_back(key_of(quantity));
  for (const char* title : {"minimax_node", "best_head"}) table.header.emplace_back(title);
  for (const Quantity& quantity : of_layer) table.header.push_back(key_of(quantity));
  for (const char* title : {"best_head_decided", "synergy_lower", "synergy_upper"})
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
          for (const Quantity& quantity : quantities)
            cells.push_back(exact(value_of(quantity, m, eps)));
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
        for (const Quantity& quantity : of_layer)
          all.push_back(exact(value_of(quantity, sample, eps)));
        all.emplace_back(synergy.best_head_decided ? "true" : "false");
        for (const double value : {synergy.lower, synergy.upper}) all.push_back(exact(value));
        table.rows.push_back(std::move(all));
      }
  return table;
}

std::string json_report(const AnalyzeReport& report) {
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
  ordered_json json = json_document(kAnalyzeDocument, report, report.analysis.layers);
  if (!report.analysis.measured_on.empty()) json["device"] = report.analysis.measured_on;
  json["conventions"] = std::move(conventions);
  return json_text(json);
}

}  // namespace synergraph
