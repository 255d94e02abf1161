#include "synergraph/report/worst_case_table.h"

#include <fmt/core.h>

#include "synergraph/report/study_number.h"

namespace synergraph {
namespace {

std::string layer_name(int layer) {
  return fmt::format("L{}", layer + 1);
}

/// The results of one task and head count.
using Group = std::vector<const CellResult*>;

/// The mean over seeds of the means over samples.
double mean_of_means(const Group& group, std::size_t layer, const Quantity& quantity) {
  double sum = 0.0;
  for (const CellResult* result : group) sum += result->exact[layer][quantity].mean;
  return sum / static_cast<double>(group.size());
}

/// The median over seeds of the medians over samples: times may be infinite, means would not exist.
double median_of_medians(const Group& group, std::size_t layer, const Quantity& quantity) {
  std::vector<double> medians;
  for (const CellResult* result : group) medians.push_back(result->exact[layer][quantity].median);
  return summarise(medians).median;
}

/// Share of all samples whose mean hitting time is infinite.
double never_share(const Group& group, std::size_t layer) {
  double never = 0.0;
  double samples = 0.0;
  for (const CellResult* result : group) {
    const Summary& summary = result->exact[layer][Quantity::kHittingMean];
    never += static_cast<double>(summary.never);
    samples += static_cast<double>(summary.samples);
  }
  return never / samples;
}

}  // namespace

Table worst_case_table(const std::vector<CellResult>& results) {
  const std::vector<double>& eps = results.front().cell.measure.eps;
  Table table;
  table.header = {"task",        "heads",       "layer", "cut mean", "cut, worst start",
                  "median mean", "median worst"};
  for (const double value : eps) table.header.push_back(fmt::format("median T_mix({})", value));
  table.header.insert(table.header.end(), {"never", "mixing synergy", "cross-head share"});
  const auto add = [&](const std::string& task, int heads, const Group& group) {
    for (std::size_t l = 0; l < group.front()->exact.size(); ++l) {
      std::vector<std::string> row = {task, fmt::format("{}", heads),
                                      layer_name(static_cast<int>(l))};
      row.push_back(human(mean_of_means(group, l, Quantity::kTruncatedHittingMean)));
      row.push_back(human(mean_of_means(group, l, Quantity::kTruncatedHittingMax)));
      row.push_back(human_time(median_of_medians(group, l, Quantity::kHittingMean)));
      row.push_back(human_time(median_of_medians(group, l, Quantity::kHittingMax)));
      for (const double value : eps)
        row.push_back(human_time(median_of_medians(group, l, Quantity::mixing_time(value))));
      row.push_back(fmt::format("{:.0f} %", 100.0 * never_share(group, l)));
      row.push_back(human(median_of_medians(group, l, Quantity::kMixingSynergy)));
      row.push_back(fmt::format("{:.3f}", mean_of_means(group, l, Quantity::kCrossHeadShare)));
      table.rows.push_back(std::move(row));
    }
  };
  for (const auto& [task, by_heads] : group_results(results))
    for (const auto& [heads, group] : by_heads) add(task, heads, group);
  return table;
}

}  // namespace synergraph
