#include "synergraph/report/subset_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "synergraph/core/terminal.h"
#include "synergraph/report/study_number.h"

namespace synergraph {
namespace {

using enum SubsetNumber;

/// A row of a head count.
struct SubsetRow {
  const char* name;
  HeadValue value;
  SubsetNumber number;
  double unit = 1.0;
  int decimals = 1;
};

constexpr HeadValue kFidelity = HeadValue::kFidelity;
constexpr HeadValue kSpeed = HeadValue::kSpeed;
constexpr std::array<SubsetRow, 18> kRows = {{
    {"best head", kFidelity, kBestHead, 100.0, 3},
    {"all heads", kFidelity, kAll, 100.0, 3},
    {"best subset", kFidelity, kBestSubset, 100.0, 3},
    {"equal weights", kFidelity, kEqualWeights, 100.0, 3},
    {"best weights found", kFidelity, kBestWeights, 100.0, 3},
    {"bound of all weights", kFidelity, kBound, 100.0, 3},
    {"heads that keep 95 %", kFidelity, kSufficient},
    {"heads of the best subset", kFidelity, kBestSize},
    {"heads that beat the best", kFidelity, kSynergySize},
    {"dispensable heads", kFidelity, kDispensable},
    {"largest share of a head, %", kFidelity, kLargestShare, 100.0},
    {"redundant pairs", kFidelity, kRedundantPairs},
    {"complementary pairs", kFidelity, kComplementaryPairs},
    {"speed: best head", kSpeed, kBestHead, 100.0, 2},
    {"speed: all heads", kSpeed, kAll, 100.0, 2},
    {"speed: best subset", kSpeed, kBestSubset, 100.0, 2},
    {"speed: best weights found", kSpeed, kBestWeights, 100.0, 2},
    {"speed: heads that keep 95 %", kSpeed, kSufficient},
}};

/// The layers of one value in order, all of them together last.
using Layers = std::map<HeadValue, std::vector<const SubsetSummary*>>;

std::string layer_name(const SubsetSummary& summary, const char* all) {
  return summary.layer == SubsetSummary::kAllLayers ? all : fmt::format("L{}", summary.layer + 1);
}

StudyNumber study_number(const SeedNumber& number, double unit, int samples) {
  StudyNumber result;
  result.mean = unit * number.mean.estimate;
  std::vector<double> known = number.values;
  std::erase_if(known, [](double value) { return std::isnan(value); });
  result.seed_std = unit * sample_std(known);
  result.low = unit * number.mean.low;
  result.high = unit * number.mean.high;
  result.seeds = number.values.size();
  result.samples = static_cast<std::size_t>(samples);
  return result;
}

void add_rows(StudyTable& table, int heads, const Layers& layers) {
  if (!table.table.rows.empty()) table.rules.push_back(table.table.rows.size());
  const std::size_t first = table.table.rows.size();
  for (const SubsetRow& row : kRows) {
    std::vector<std::string> cells = {
        table.table.rows.size() == first ? fmt::format("{}", heads) : "", row.name};
    for (const SubsetSummary* summary : layers.at(row.value)) {
      const bool unknown = summary->samples == 1 && row.number >= kRedundantPairs;
      cells.push_back(unknown ? "-"
                              : with_interval(study_number(summary->numbers.at(row.number),
                                                           row.unit, summary->samples),
                                              row.decimals));
    }
    table.table.rows.push_back(std::move(cells));
  }
}

void add_data(StudyTable& table, const SubsetSummary& summary) {
  const auto add = [&](std::string_view name, const SeedNumber& seeds) {
    add_study_data(table,
                   {summary.task, summary.heads, layer_name(summary, "all"),
                    fmt::format("subsets_{}_{}", name_of(summary.value), name)},
                   "ours", "exact", study_number(seeds, 1.0, summary.samples));
  };
  for (const auto& [number, name] : kNamesOf<SubsetNumber>) add(name, summary.numbers.at(number));
  add("learned_share", summary.learned_share);
  add("equal_share", summary.equal_share);
  add("proven_share", summary.proven_share);
}

}  // namespace

std::optional<StudyTable> subset_table(const Findings& findings, const std::string& task) {
  std::map<int, Layers> groups;
  std::size_t seeds = 1;
  int samples = 0;
  StudyTable table;
  table.data.header = study_data_header();
  for (const SubsetSummary& summary : findings.subsets) {
    if (summary.task != task) continue;
    groups[summary.heads][summary.value].push_back(&summary);
    seeds = std::max(seeds, summary.learned_share.values.size());
    samples = summary.samples;
    add_data(table, summary);
  }
  if (groups.empty()) return std::nullopt;
  table.name = "subsets-" + task;
  table.caption = fmt::format(
      "Subsets of heads by the exact convention, task {}: fidelity in per cent, counts of heads "
      "and pairs, and speed, the share of the cutoff that is not needed, in per cent; {}. The best "
      "subsets and weights are the best of these samples. Dispensable: heads without which, each "
      "by itself, the others are no less faithful. Share: by Shapley value. Pairs: by a t test of "
      "each at the level 0.05, so that one in 20 is expected by chance. Last column: a model's "
      "mean over its layers.",
      task,
      seeds == 1 ? fmt::format("one seed, on {}", counted(samples, "sample"))
                 : fmt::format("mean over {} seeds, each on {}, and its 95 % interval over "
                               "seeds",
                               seeds, counted(samples, "sample")));
  table.table.left_columns = 2;
  table.table.header = {"heads", ""};
  for (const SubsetSummary* summary : groups.begin()->second.at(HeadValue::kFidelity))
    table.table.header.push_back(layer_name(*summary, "mean"));
  for (const auto& [heads, layers] : groups) add_rows(table, heads, layers);
  return table;
}

}  // namespace synergraph
