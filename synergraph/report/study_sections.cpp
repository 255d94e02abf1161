#include "synergraph/report/study_sections.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "synergraph/report/findings_tables.h"
#include "synergraph/report/study_tables.h"

namespace synergraph {
namespace {

ReportSection tables(const ReproduceReport& report) {
  ReportSection section{"Tables"};
  for (const StudyTable& table : study_tables(report.results, report.findings))
    section.tables.push_back({table.caption, table.table, table.rules, false});
  section.tables.push_back(
      {"Beyond the paper: worst start, uncut times and T_mix by the exact convention, over samples "
       "and seeds (never: share of samples in which some token cannot reach the last)",
       worst_case_table(report.results)});
  return section;
}

ReportSection statistics(const Findings& findings) {
  ReportSection section{
      "Statistics",
      {"Trends: Jonckheere-Terpstra over the head counts, one value a seed, one-sided; effect: "
       "Somers' d, +1 when every pair is in the claimed order; corrected by Holm over all trends "
       "of a convention. Shares: Wilson's 95 % intervals. Correlation: Spearman's, two-sided; "
       "layers of one model are not independent, so its p-value describes rather than proves."}};
  for (const Convention convention : {Convention::kPublished, Convention::kExact}) {
    section.tables.push_back(
        {fmt::format("Trends along the head count, {} convention", name_of(convention)),
         trend_table(findings, convention)});
    const Table synergy = synergy_table(findings, convention);
    if (!synergy.rows.empty())
      section.tables.push_back(
          {fmt::format("Synergy, {} convention", name_of(convention)), synergy});
  }
  section.tables.push_back({"Mixing time against fidelity", correlation_table(findings)});
  return section;
}

Table settings_table(const ReproduceReport& report) {
  Table table;
  table.header = {"setting", "value"};
  const GridSettings& grid = report.grid;
  table.rows = {{"tasks", fmt::format("{}", fmt::join(grid.tasks, ", "))},
                {"heads", fmt::format("{}", fmt::join(grid.heads, ", "))},
                {"seeds", fmt::format("{}", fmt::join(grid.seeds, ", "))},
                {"samples", fmt::format("{}", grid.measure.samples)},
                {"eps of T_mix", fmt::format("{}", fmt::join(grid.measure.eps, ", "))},
                {"cutoff", fmt::format("{}", grid.measure.cutoff)},
                {"horizon (published)", fmt::format("{}", grid.measure.horizon)},
                {"samples for subsets", fmt::format("{}", grid.measure.subset_samples)}};
  for (const auto& [name, value] : common_training(grid)) table.rows.push_back({name, value});
  table.rows.push_back({"program", fmt::format("synergraph {} ({})", kVersion, instruction_set())});
  table.rows.push_back({"results version", fmt::format("{}", kResultsVersion)});
  return table;
}

Table model_table(const ReproduceReport& report) {
  Table table;
  table.header = {"task", "heads", "seed", "held-out accuracy", "held-out loss", "learned"};
  for (const CellResult& result : report.results)
    table.rows.push_back({result.cell.train.task, fmt::format("{}", result.cell.train.model.heads),
                          fmt::format("{}", result.cell.train.seed),
                          fmt::format("{:.4f}", result.accuracy), human(result.loss),
                          has_learned(result) ? "yes" : "no"});
  return table;
}

}  // namespace

std::vector<ReportSection> study_sections(const ReproduceReport& report) {
  return {tables(report),
          statistics(report.findings),
          {"Models", {}, {{"", model_table(report)}}},
          {"Settings", {}, {{"", settings_table(report)}}}};
}

}  // namespace synergraph
