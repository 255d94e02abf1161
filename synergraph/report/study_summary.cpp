#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "synergraph/report/statements.h"
#include "synergraph/report/study_report.h"
#include "synergraph/report/table.h"
#include "synergraph/study/published.h"

namespace synergraph {
namespace {

std::string number(std::optional<double> value, int decimals) {
  if (!value || std::isnan(*value)) return "-";
  return fixed(*value, decimals);
}

/// The paper's two numbers of all layers of one (task, heads), "-" where there is none.
struct Row {
  std::vector<std::optional<double>> times;
  std::vector<std::optional<double>> fidelities;  ///< per cent

  std::vector<std::string> cells(const std::string& label, const std::string& source) const {
    std::vector<std::string> texts = {label, source};
    for (const auto& time : times) texts.push_back(number(time, 2));
    for (const auto& fidelity : fidelities) texts.push_back(number(fidelity, 2));
    return texts;
  }
};

Row our_row(const Findings& findings, const std::string& task, int heads, int layers) {
  const auto mean = [&](int layer, const char* key) -> std::optional<double> {
    const SeedSummary* summary =
        find_summary(findings, task, heads, layer, Convention::kPublished, key);
    if (summary == nullptr) return std::nullopt;
    return summary->mean.estimate;
  };
  Row row;
  for (int layer = 0; layer < layers; ++layer) {
    row.times.push_back(mean(layer, kSpeedKey));
    const std::optional<double> fidelity = mean(layer, kFidelityKey);
    row.fidelities.push_back(fidelity ? std::optional(100.0 * *fidelity) : std::nullopt);
  }
  return row;
}

/// Nothing where the paper has no such model.
std::optional<Row> published_row(const std::string& task, int heads, int layers) {
  if (!published_mixing_time(task, heads, 0)) return std::nullopt;
  const auto mean = [](const std::optional<PublishedValue>& value) -> std::optional<double> {
    if (!value) return std::nullopt;
    return value->mean;
  };
  Row row;
  for (int layer = 0; layer < layers; ++layer) {
    row.times.push_back(mean(published_mixing_time(task, heads, layer)));
    row.fidelities.push_back(mean(published_fidelity(task, heads, layer)));
  }
  return row;
}

Table means_table(const StudyReport& report, const std::map<std::string, ResultsByHeads>& groups) {
  const auto layers = static_cast<int>(report.results.front().exact.size());
  Table table;
  table.left_columns = 2;
  table.key_columns = 2;
  table.header = {"", ""};
  for (int l = 1; l <= layers; ++l) table.header.push_back(fmt::format("time L{}", l));
  for (int l = 1; l <= layers; ++l) table.header.push_back(fmt::format("fid. % L{}", l));
  for (const auto& [task, by_heads] : groups)
    for (const auto& [heads, results] : by_heads) {
      const std::string label = fmt::format("{}, {}", task, counted(heads, "head"));
      table.rows.push_back(our_row(report.findings, task, heads, layers).cells(label, "ours"));
      if (const std::optional<Row> row = published_row(task, heads, layers))
        table.rows.push_back(row->cells("", "paper"));
    }
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
  if (total.samples == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(total.samples_with) /
                                     static_cast<double>(total.samples));
}

std::string correlation_cell(const Findings& findings, const std::string& task,
                             Convention convention) {
  for (const SpeedFidelity& entry : findings.speed_fidelity)
    if (entry.task == task && entry.convention == convention) return number(entry.test.effect, 2);
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

}  // namespace

std::string format_report(const StudyReport& report, std::size_t columns) {
  if (report.results.empty()) return "no results\n";
  const std::map<std::string, ResultsByHeads> groups = group_results(report.results);
  std::string text = "Published convention, means over samples and seeds:\n";
  text += format_text(means_table(report, groups), columns) + '\n';
  text += wrapped(fmt::format("What the data support, trends at the level {} after correction:\n",
                              kSignificance),
                  columns, 2);
  text += format_text(claims_table(report.findings, groups), columns) + '\n';
  for (const std::string& statement : general_statements(report.findings, report.results))
    text += wrapped(statement + '\n', columns, 2);
  return text;
}

}  // namespace synergraph
