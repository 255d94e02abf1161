#include "synergraph/report/study_sections.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "synergraph/report/study_tables.h"
#include "synergraph/report/worst_case_table.h"

namespace synergraph {
namespace {

/// The title of a table, which is named after its kind and its task: "mixing-copy".
std::string title_of(const std::string& name) {
  static const std::map<std::string, std::string> titles = {
      {"control", "Accuracy with heads switched off"},
      {"mixing", "Mixing time"},
      {"fidelity", "Minimax fidelity"},
      {"comparison", "Best head and all heads"},
      {"subsets", "Subsets of heads"}};
  const std::size_t end = name.find('-');
  return fmt::format("{}: {}", titles.at(name.substr(0, end)), name.substr(end + 1));
}

ReportSection tables(const std::vector<CellResult>& results, const Findings& findings) {
  ReportSection section{"Tables"};
  for (const StudyTable& table : study_tables(results, findings))
    section.tables.push_back({title_of(table.name), table.caption, table.table});
  section.tables.push_back(
      {"Beyond the paper",
       "Worst start, uncut times and T_mix by the exact convention, over samples and seeds. Never: "
       "share of samples in which some token cannot reach the last token",
       worst_case_table(results)});
  return section;
}

Table settings_table(const GridSettings& grid) {
  Table table;
  table.header = {"setting", "value"};
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

}  // namespace

std::vector<ReportSection> study_sections(const GridSettings& grid,
                                          const std::vector<CellResult>& results,
                                          const Findings& findings) {
  return {tables(results, findings), {"Settings", {{"Settings", "", settings_table(grid)}}}};
}

}  // namespace synergraph
