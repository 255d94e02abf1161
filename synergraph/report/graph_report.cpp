#include "synergraph/report/graph_report.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/heads/quantity.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

ordered_json numbers(const std::vector<double>& values) {
  ordered_json list = ordered_json::array();
  for (const double value : values) list.push_back(json_number(value));
  return list;
}

/// A whole number; one too long for an integer as a floating-point number.
ordered_json json_count(double value) {
  constexpr double kExact = 0x1.0p53;
  return value < kExact ? ordered_json(static_cast<std::int64_t>(value)) : ordered_json(value);
}

/// A number, or its interval where a certificate was not reached in time.
std::string human_range(double lower, double upper) {
  return upper > lower ? fmt::format("[{}, {}]", human(lower), human(upper)) : human(lower);
}

std::string node_name(const GraphReport& report, int node) {
  return report.node_names[static_cast<std::size_t>(node)];
}

std::string best_head(const GraphReport& report) {
  return report.head_names[static_cast<std::size_t>(report.metrics.synergy.best_head)];
}

ordered_json json_bound(const MixingBound& bound) {
  return {{"steps", json_number(bound.steps)}, {"valid_from_eps", bound.valid_from}};
}

ordered_json json_hitting(const GraphReport& report, const HittingTimes& times) {
  return {{"mean", json_number(times.mean)},
          {"max", json_number(times.max)},
          {"worst_node", node_name(report, times.worst_node)},
          {"node", numbers(times.node)}};
}

/// Mixing times, one for each eps.
ordered_json json_times(const std::vector<double>& eps, const std::vector<double>& times) {
  ordered_json list = ordered_json::array();
  for (std::size_t k = 0; k < times.size(); ++k)
    list.push_back({{"eps", eps[k]}, {"steps", json_number(times[k])}});
  return list;
}

ordered_json json_metrics(const GraphReport& report, const Metrics& metrics) {
  const Fidelity& fidelity = metrics.fidelity;
  ordered_json json = {
      {key_of(Quantity::kForwardProbability), json_number(metrics.forward_probability)},
      {"mixing_bound", json_bound(metrics.bound)},
      {"mixing_time", json_times(report.options.walk.eps, metrics.walk.mixing)},
      {"hitting_time", json_hitting(report, metrics.walk.hitting)},
      {"truncated_hitting_time", json_hitting(report, metrics.walk.truncated)},
      {key_of(Quantity::kMinimaxFidelity),
       {{"value", fidelity.minimax},
        {"upper", fidelity.minimax_upper},
        {"certified", fidelity.certified},
        {"node", node_name(report, fidelity.minimax_node)},
        {"time", json_number(fidelity.minimax_time)},
        {"steps", json_count(fidelity.steps)}}},
      {"node_fidelity", numbers(fidelity.node)},
      {"node_fidelity_upper", numbers(fidelity.node_upper)},
      {"optimal_time", numbers(fidelity.optimal_time)}};
  for (const QuantityRow& row : kQuantityRows) {
    if (row.backward && !report.options.backward) continue;
    if (row.in_system != nullptr) json[std::string(row.key)] = json_number(metrics.*row.in_system);
    if (row.of_eps != nullptr)
      json[key_without_eps(row)] = json_times(report.options.walk.eps, row.of_eps(metrics));
  }
  return json;
}

/// A cell of a table and the title of its column.
struct Shown {
  std::string title, text;
};
using CellsOf = std::vector<Shown>(const GraphReport& report, const std::string& name,
                                   double weight, const Metrics& m);

/// A table with a row a head and one for all together, which is weighed with one.
Table table_of(const GraphReport& report, CellsOf* cells_of) {
  Table table;
  const auto add = [&](const std::string& name, double weight, const Metrics& metrics) {
    table.header.clear();
    table.rows.emplace_back();
    for (const Shown& cell : cells_of(report, name, weight, metrics)) {
      table.header.push_back(cell.title);
      table.rows.back().push_back(cell.text);
    }
  };
  for (std::size_t h = 0; h < report.metrics.heads.size(); ++h)
    add(report.head_names[h], report.weights[h], report.metrics.heads[h]);
  add("combined", 1.0, report.metrics.combined);
  return table;
}

Shown shown(const Quantity& quantity, const GraphReport& report, const Metrics& m) {
  const WalkOptions& walk = report.options.walk;
  const double value = value_of(quantity, m, walk.eps);
  const std::optional<Quantity> upper = upper_end(quantity);
  return {heading_of(quantity, walk.cutoff), upper
                                                 ? human_range(value, value_of(*upper, m, walk.eps))
                                             : quantity.is_time() ? human_time(value)
                                                                  : human(value)};
}

std::vector<Shown> text_cells(const GraphReport& report, const std::string& name, double weight,
                              const Metrics& m) {
  const double bound = m.bound.steps;
  std::vector<Shown> cells = {{"", name}, {std::string(row_of("weight").heading), human(weight)}};
  const WalkOptions& walk = report.options.walk;
  for (const Quantity& quantity : system_quantities(walk.eps)) {
    if (quantity.row().column) cells.push_back(shown(quantity, report, m));
    if (quantity == Quantity::kForwardProbability)
      cells.push_back({"bound", std::isinf(bound) ? "none" : human_time(bound)});
  }
  const double time = m.fidelity.minimax_time;
  cells.push_back(
      {std::string(row_of("minimax_node").heading), node_name(report, m.fidelity.minimax_node)});
  cells.push_back({heading_of(Quantity::kMinimaxTime, walk.cutoff),
                   std::isinf(time) ? "limit" : human_time(time)});
  return cells;
}

/// Averages and the way back: a table of their own, so that each table fits a terminal.
std::vector<Shown> backward_cells(const GraphReport& report, const std::string& name,
                                  double /*weight*/, const Metrics& m) {
  std::vector<Shown> cells = {{"", name}};
  for (const Quantity& quantity : system_quantities(report.options.walk.eps, true))
    if (quantity.row().backward && quantity.row().column)
      cells.push_back(shown(quantity, report, m));
  return cells;
}

std::vector<Shown> csv_cells(const GraphReport& report, const std::string& name, double weight,
                             const Metrics& m) {
  const HeadsMetrics& all = report.metrics;
  const std::vector<double>& eps = report.options.walk.eps;
  const auto of_all = [&](const std::string& text) { return &m == &all.combined ? text : ""; };
  const auto text = [](bool value) { return value ? "true" : "false"; };
  std::vector<Shown> cells = {{"head", name},
                              {"weight", exact(weight)},
                              {"mixing_bound", exact(m.bound.steps)},
                              {"mixing_bound_valid_from_eps", exact(m.bound.valid_from)}};
  for (const Quantity& quantity : system_quantities(eps, report.options.backward))
    cells.push_back({key_of(quantity), exact(value_of(quantity, m, eps))});
  cells.insert(cells.end(), {{"hitting_worst_node", node_name(report, m.walk.hitting.worst_node)},
                             {"minimax_node", node_name(report, m.fidelity.minimax_node)},
                             {"certified", text(m.fidelity.certified)},
                             {"best_head", of_all(best_head(report))}});
  for (const Quantity& quantity : comparing_quantities(true))
    cells.push_back({key_of(quantity), of_all(exact(value_of(quantity, all, eps)))});
  cells.insert(cells.end(), {{"best_head_decided", of_all(text(all.synergy.best_head_decided))},
                             {"synergy_lower", of_all(exact(all.synergy.lower))},
                             {"synergy_upper", of_all(exact(all.synergy.upper))}});
  return cells;
}

std::string describe(const GraphReport& report) {
  const HeadsMetrics& m = report.metrics;
  const FidelityOptions& fidelity = report.options.fidelity;
  const Synergy& synergy = m.synergy;
  std::string text =
      fmt::format("best head         {} (minimax fidelity {}{})\n", printable(best_head(report)),
                  human_range(synergy.best_head_fidelity, synergy.best_head_fidelity_upper),
                  synergy.best_head_decided ? "" : "; another may be better: not certified");
  const std::optional<bool> present = synergy.present();
  const char* verdict = !present   ? "undecided: fidelities are not certified"
                        : *present ? "present: together above the best head"
                                   : "not present";
  text += fmt::format("fidelity synergy  {} ({})\n", human_range(synergy.lower, synergy.upper),
                      verdict);
  text += fmt::format(
      "mixing synergy    {} (fastest head alone over all together, per-head walk, eps {})\n",
      human(m.mixing_synergy), report.options.walk.eps.front());
  text += fmt::format("cross-head share  {} of the weakest signal changes head on its way\n",
                      human(m.cross_head_share));
  if (std::isinf(m.effective_bound.steps))
    text += "paper's bound     none: every head holds some node forever (p = 0)\n";
  else
    text += fmt::format(
        "paper's bound     {} steps from p = {}, for eps >= {}; with the best weights {}\n",
        human_time(m.effective_bound.steps), human(m.effective_forward_probability),
        human(m.effective_bound.valid_from, 2), human_time(m.adaptive.steps));
  for (const MonteCarloEstimate& estimate : report.monte_carlo)
    text += fmt::format(
        "Monte Carlo       mean cut hitting time {} +- {}, within {} at 95 % (exact {})\n",
        human(estimate.mean, 6), human(estimate.mean_error, 2), human(estimate.mean_bound, 2),
        human(m.combined.walk.truncated.mean, 6));
  text += fmt::format(
      "measured with     {} walk, fidelity as a fraction over {}, horizon {}, hitting times cut at "
      "{}\n",
      name_of(report.options.normalization), sources_text(fidelity), horizon_text(fidelity),
      report.options.walk.cutoff);
  return text;
}

}  // namespace

std::string format_report(const GraphReport& report, std::size_t columns) {
  constexpr std::size_t kLabel = 18;  // what describe() begins its lines with
  std::string text = format_text(table_of(report, text_cells), columns) + '\n';
  if (report.options.backward)
    text += format_text(table_of(report, backward_cells), columns) + '\n';
  return text + wrapped(describe(report), columns, kLabel);
}

Table csv_table(const GraphReport& report) {
  return table_of(report, csv_cells);
}

std::string json_report(const GraphReport& report) {
  const HeadsMetrics& metrics = report.metrics;
  const Synergy& synergy = metrics.synergy;
  const std::optional<bool> present = synergy.present();
  const MetricsOptions& options = report.options;
  ordered_json heads = ordered_json::array();
  for (std::size_t h = 0; h < metrics.heads.size(); ++h) {
    ordered_json head = {{"name", report.head_names[h]}, {"weight", report.weights[h]}};
    head.update(json_metrics(report, metrics.heads[h]));
    heads.push_back(std::move(head));
  }
  ordered_json json =
      document_of(kGraphDocument,
                  {{"settings", json_settings(options)},
                   {"nodes", report.node_names},
                   {"heads", std::move(heads)},
                   {"combined", json_metrics(report, metrics.combined)},
                   {"effective_bound", json_bound(metrics.effective_bound)},
                   {"adaptive_bound", json_bound(metrics.adaptive)},
                   {"best_head", best_head(report)},
                   {"best_head_decided", synergy.best_head_decided},
                   {"best_head_fidelity_upper", synergy.best_head_fidelity_upper},
                   {"synergy_lower", json_number(synergy.lower)},
                   {"synergy_upper", json_number(synergy.upper)},
                   {"synergy_present", present ? ordered_json(*present) : ordered_json(nullptr)},
                   {"mixing_synergy_present", metrics.mixing_synergy > 1.0}});
  for (const Quantity& quantity : comparing_quantities(true))
    json[key_of(quantity)] = json_number(value_of(quantity, metrics, options.walk.eps));
  for (const MonteCarloEstimate& estimate : report.monte_carlo)
    json["monte_carlo"] = {{"truncated_hitting_mean", estimate.mean},
                           {"standard_error", estimate.mean_error},
                           {"error_bound_95", estimate.mean_bound}};
  return json_text(json);
}

}  // namespace synergraph
