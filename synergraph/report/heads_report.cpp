#include "synergraph/report/heads_report.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// Version of the JSON layout; see docs/formats.md.
constexpr int kHeadsSchema = 1;

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

std::string eps_title(double eps) {
  return fmt::format("T_mix({})", eps);
}

/// A number, or its interval where a certificate was not reached in time.
std::string human_range(double lower, double upper) {
  return upper > lower ? fmt::format("[{}, {}]", human(lower), human(upper)) : human(lower);
}

std::string human_fidelity(const Fidelity& fidelity) {
  return human_range(fidelity.minimax, fidelity.minimax_upper);
}

std::string human_optimal_time(const Fidelity& fidelity) {
  return std::isinf(fidelity.minimax_time) ? "limit" : human_time(fidelity.minimax_time);
}

std::string node_name(const HeadsReport& report, int node) {
  return report.node_names[static_cast<std::size_t>(node)];
}

ordered_json json_hitting(const HeadsReport& report, const HittingTimes& times) {
  return {{"mean", json_number(times.mean)},
          {"max", json_number(times.max)},
          {"worst_node", node_name(report, times.worst_node)},
          {"node", numbers(times.node)}};
}

ordered_json json_metrics(const HeadsReport& report, const Metrics& metrics) {
  ordered_json mixing = ordered_json::array();
  for (std::size_t k = 0; k < metrics.walk.mixing.size(); ++k)
    mixing.push_back(
        {{"eps", report.options.walk.eps[k]}, {"steps", json_number(metrics.walk.mixing[k])}});
  const Fidelity& fidelity = metrics.fidelity;
  return {
      {"forward_probability", json_number(metrics.forward_probability)},
      {"mixing_bound",
       {{"steps", json_number(metrics.bound.steps)}, {"valid_from_eps", metrics.bound.valid_from}}},
      {"mixing_time", mixing},
      {"hitting_time", json_hitting(report, metrics.walk.hitting)},
      {"truncated_hitting_time", json_hitting(report, metrics.walk.truncated)},
      {"minimax_fidelity",
       {{"value", fidelity.minimax},
        {"upper", fidelity.minimax_upper},
        {"certified", fidelity.certified},
        {"node", node_name(report, fidelity.minimax_node)},
        {"time", json_number(fidelity.minimax_time)},
        {"steps", json_count(fidelity.steps)}}},
      {"node_fidelity", numbers(fidelity.node)},
      {"node_fidelity_upper", numbers(fidelity.node_upper)},
      {"optimal_time", numbers(fidelity.optimal_time)}};
}

std::vector<std::string> text_row(const HeadsReport& report, const std::string& name, double weight,
                                  const Metrics& metrics) {
  std::vector<std::string> row = {
      name, human(weight), human(metrics.forward_probability),
      std::isinf(metrics.bound.steps) ? "none" : human_time(metrics.bound.steps)};
  for (const double time : metrics.walk.mixing) row.push_back(human_time(time));
  row.push_back(human_time(metrics.walk.hitting.mean));
  row.push_back(human_time(metrics.walk.hitting.max));
  row.push_back(human_time(metrics.walk.truncated.mean));
  row.push_back(human_fidelity(metrics.fidelity));
  row.push_back(node_name(report, metrics.fidelity.minimax_node));
  row.push_back(human_optimal_time(metrics.fidelity));
  return row;
}

std::string describe(const HeadsReport& report) {
  const HeadsMetrics& m = report.metrics;
  const FidelityOptions& fidelity = report.options.fidelity;
  const Synergy& synergy = m.synergy;
  std::string text =
      fmt::format("best head         {} (minimax fidelity {}{})\n",
                  printable(report.head_names[static_cast<std::size_t>(synergy.best_head)]),
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
      name_of(report.options.normalization),
      fidelity.nodes == FidelityNodes::kSources ? "sources" : "all nodes", horizon_text(fidelity),
      report.options.walk.cutoff);
  return text;
}

}  // namespace

std::string format_report(const HeadsReport& report, std::size_t columns) {
  Table table;
  table.header = {"", "weight", "p", "bound"};
  for (const double eps : report.options.walk.eps) table.header.push_back(eps_title(eps));
  for (const char* title : {"hit mean", "hit max", "hit cut", "fidelity", "node", "at t"})
    table.header.emplace_back(title);
  const HeadsMetrics& metrics = report.metrics;
  for (std::size_t h = 0; h < metrics.heads.size(); ++h)
    table.rows.push_back(
        text_row(report, report.head_names[h], report.weights[h], metrics.heads[h]));
  table.rows.push_back(text_row(report, "combined", 1.0, metrics.combined));
  constexpr std::size_t kLabel = 18;  // what describe() begins its lines with
  return format_text(table, columns) + '\n' + wrapped(describe(report), columns, kLabel);
}

Table csv_table(const HeadsReport& report) {
  Table table;
  table.header = {"head", "weight", "forward_probability", "mixing_bound",
                  "mixing_bound_valid_from_eps"};
  for (const double eps : report.options.walk.eps)
    table.header.push_back(key_of(Quantity::mixing_time(eps)));
  for (const char* title :
       {"hitting_mean", "hitting_max", "hitting_worst_node", "truncated_hitting_mean",
        "truncated_hitting_max", "minimax_fidelity", "minimax_fidelity_upper", "minimax_node",
        "minimax_time", "certified", "best_head", "synergy", "mixing_synergy", "cross_head_share",
        "best_head_decided", "synergy_lower", "synergy_upper"})
    table.header.emplace_back(title);
  const HeadsMetrics& all = report.metrics;
  const Synergy& synergy = all.synergy;
  const auto row = [&](const std::string& name, double weight, const Metrics& m, bool combined) {
    std::vector<std::string> cells = {name, exact(weight), exact(m.forward_probability),
                                      exact(m.bound.steps), exact(m.bound.valid_from)};
    for (const double time : m.walk.mixing) cells.push_back(exact(time));
    const Fidelity& f = m.fidelity;
    for (const std::string& cell :
         {exact(m.walk.hitting.mean), exact(m.walk.hitting.max),
          node_name(report, m.walk.hitting.worst_node), exact(m.walk.truncated.mean),
          exact(m.walk.truncated.max), exact(f.minimax), exact(f.minimax_upper),
          node_name(report, f.minimax_node), exact(f.minimax_time),
          std::string(f.certified ? "true" : "false"),
          combined ? report.head_names[static_cast<std::size_t>(synergy.best_head)] : std::string(),
          combined ? exact(synergy.value) : std::string(),
          combined ? exact(all.mixing_synergy) : std::string(),
          combined ? exact(all.cross_head_share) : std::string(),
          combined ? std::string(synergy.best_head_decided ? "true" : "false") : std::string(),
          combined ? exact(synergy.lower) : std::string(),
          combined ? exact(synergy.upper) : std::string()})
      cells.push_back(cell);
    table.rows.push_back(std::move(cells));
  };
  for (std::size_t h = 0; h < all.heads.size(); ++h)
    row(report.head_names[h], report.weights[h], all.heads[h], false);
  row("combined", 1.0, all.combined, true);
  return table;
}

std::string json_report(const HeadsReport& report) {
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
  ordered_json json = {
      {"schema", "synergraph.graph"},
      {"schema_version", kHeadsSchema},
      {"program", std::string("synergraph ") + kVersion},
      {"isa", instruction_set()},
      {"settings", json_settings(options)},
      {"nodes", report.node_names},
      {"heads", std::move(heads)},
      {"combined", json_metrics(report, metrics.combined)},
      {"effective_forward_probability", json_number(metrics.effective_forward_probability)},
      {"effective_bound",
       {{"steps", json_number(metrics.effective_bound.steps)},
        {"valid_from_eps", metrics.effective_bound.valid_from}}},
      {"adaptive_bound",
       {{"steps", json_number(metrics.adaptive.steps)},
        {"valid_from_eps", metrics.adaptive.valid_from}}},
      {"best_head", report.head_names[static_cast<std::size_t>(synergy.best_head)]},
      {"best_head_decided", synergy.best_head_decided},
      {"best_head_fidelity", synergy.best_head_fidelity},
      {"best_head_fidelity_upper", synergy.best_head_fidelity_upper},
      {"synergy", json_number(synergy.value)},
      {"synergy_lower", json_number(synergy.lower)},
      {"synergy_upper", json_number(synergy.upper)},
      {"synergy_present", present ? ordered_json(*present) : ordered_json(nullptr)},
      {"mixing_synergy", json_number(metrics.mixing_synergy)},
      {"mixing_synergy_present", metrics.mixing_synergy > 1.0},
      {"cross_head_share", json_number(metrics.cross_head_share)}};
  for (const MonteCarloEstimate& estimate : report.monte_carlo)
    json["monte_carlo"] = {{"truncated_hitting_mean", estimate.mean},
                           {"standard_error", estimate.mean_error},
                           {"error_bound_95", estimate.mean_bound}};
  return json_text(json);
}

}  // namespace synergraph
