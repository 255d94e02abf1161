#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "synergraph/report/control_table.h"
#include "synergraph/report/reproduce_report.h"
#include "synergraph/report/statements.h"
#include "synergraph/report/subset_statements.h"
#include "synergraph/report/table.h"
#include "synergraph/study/published.h"

namespace synergraph {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string number(double value) {
  return std::isnan(value) ? "-" : fixed(value, 2);
}

/// The paper's quantities of all layers, given by value(quantity, layer) in the paper's unit.
template <class Value>
std::vector<std::string> means_row(const std::string& label, const std::string& source, int layers,
                                   const Value& value) {
  std::vector<std::string> row = {label, source};
  for (const Quantity& quantity : kPublishedQuantities)
    for (int layer = 0; layer < layers; ++layer) row.push_back(number(value(quantity, layer)));
  return row;
}

Table means_table(const ReproduceReport& report,
                  const std::map<std::string, ResultsByHeads>& groups) {
  const auto layers = static_cast<int>(report.results.front().exact.size());
  Table table;
  table.left_columns = 2;
  table.key_columns = 2;
  table.header = {"", ""};
  for (int l = 1; l <= layers; ++l) table.header.push_back(fmt::format("time L{}", l));
  for (int l = 1; l <= layers; ++l) table.header.push_back(fmt::format("fid. % L{}", l));
  const auto add = [&](const std::string& task, int heads) {
    const auto ours = [&](const Quantity& quantity, int layer) {
      const SeedSummary* summary =
          find_summary(report.findings, task, heads, layer, Convention::kPublished, quantity);
      return summary == nullptr ? kNone : published_unit(quantity) * summary->mean.estimate;
    };
    const auto papers = [&](const Quantity& quantity, int layer) {
      const auto value = published_value(quantity, task, heads, layer);
      return value ? value->mean : kNone;
    };
    const std::string label = fmt::format("{}, {}", task, counted(heads, "head"));
    table.rows.push_back(means_row(label, "ours", layers, ours));
    if (published_value(kPublishedQuantities.front(), task, heads, 0))
      table.rows.push_back(means_row("", "paper", layers, papers));
  };
  for (const auto& [task, by_heads] : groups)
    for (const auto& [heads, results] : by_heads) add(task, heads);
  return table;
}

/// "L1, L2": the layers in which a trend is supported.
std::string trend_cell(const Findings& findings, const std::string& task, Convention convention,
                       Claim claim) {
  int tests = 0;
  std::string layers;
  for (const Trend& trend : findings.trends) {
    if (trend.task != task || trend.convention != convention || trend.claim != claim) continue;
    ++tests;
    if (trend.adjusted_p > kSignificance) continue;
    layers += fmt::format("{}{}", layers.empty() ? "L" : ", L", trend.layer + 1);
  }
  if (tests == 0) return "-";
  return layers.empty() ? "in no layer" : layers;
}

std::string synergy_cell(const Findings& findings, const std::string& task, Convention convention) {
  const TotalSynergy total = total_synergy(findings, task, convention);
  if (total.samples.trials == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * total.samples.value());
}

std::string correlation_cell(const Findings& findings, const std::string& task,
                             Convention convention) {
  for (const SpeedFidelity& entry : findings.speed_fidelity)
    if (entry.task == task && entry.convention == convention) return number(entry.test.effect);
  return "-";
}

Table claims_table(const Findings& findings, const std::map<std::string, ResultsByHeads>& groups) {
  Table table;
  table.left_columns = 2 + groups.size();
  table.key_columns = 2;
  table.header = {"", "convention"};
  for (const auto& [task, by_heads] : groups) table.header.push_back(task);
  const auto add = [&](std::string label, const auto& cell) {
    for (const Convention convention : {Convention::kPublished, Convention::kExact}) {
      std::vector<std::string> row = {std::move(label), std::string(name_of(convention))};
      label = "";
      for (const auto& [task, by_heads] : groups) row.push_back(cell(task, convention));
      table.rows.push_back(std::move(row));
    }
  };
  add("more heads mix faster", [&](const std::string& task, Convention convention) {
    return trend_cell(findings, task, convention, Claim::kFaster);
  });
  add("more heads are more faithful", [&](const std::string& task, Convention convention) {
    return trend_cell(findings, task, convention, Claim::kMoreFaithful);
  });
  add("all heads beat the best one", [&](const std::string& task, Convention convention) {
    return synergy_cell(findings, task, convention);
  });
  add("rank correlation, time and fidelity", [&](const std::string& task, Convention convention) {
    return correlation_cell(findings, task, convention);
  });
  return table;
}

/// Empty where no subsets were measured.
std::string subsets_text(const Findings& findings,
                         const std::map<std::string, ResultsByHeads>& groups, std::size_t columns) {
  std::vector<std::string> tasks;
  tasks.reserve(groups.size());
  for (const auto& [task, by_heads] : groups) tasks.push_back(task);
  const Table table = subset_overview(findings, tasks);
  if (table.rows.empty()) return {};
  return wrapped(
             "Subsets of heads by the fidelity of the exact convention, means over layers and "
             "seeds: how many keep 95 % of all, make the best subset, are each dispensable, and "
             "beat the best head; what the learned weights have of the best ones found:\n",
             columns, 2) +
         format_text(table, columns) + '\n';
}

}  // namespace

std::string format_report(const ReproduceReport& report, std::size_t columns) {
  if (report.results.empty()) return "no results\n";
  const std::map<std::string, ResultsByHeads> groups = group_results(report.results);
  std::string text;
  if (const Table control = control_overview(groups); !control.rows.empty())
    text += wrapped("Do the models need attention? Held-out accuracy, means over seeds:\n", columns,
                    2) +
            format_text(control, columns) + '\n';
  text += "Published convention, means over samples and seeds:\n";
  text += format_text(means_table(report, groups), columns) + '\n';
  text += wrapped(fmt::format("What the data support, trends at the level {} after correction:\n",
                              kSignificance),
                  columns, 2);
  text += format_text(claims_table(report.findings, groups), columns) + '\n';
  text += subsets_text(report.findings, groups, columns);
  for (const std::string& statement : general_statements(report.findings, report.results))
    text += wrapped(statement + '\n', columns, 2);
  return text;
}

}  // namespace synergraph
