#pragma once

#include <map>
#include <string>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/statistics/intervals.h"
#include "synergraph/statistics/rank_tests.h"
#include "synergraph/study/cell.h"
#include "synergraph/study/subset_findings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A claim of the paper, as a trend along the head counts.
enum class Claim { kFaster, kMoreFaithful };

template <>
inline constexpr NameTable<Claim, 2> kNamesOf<Claim>{
    {{Claim::kFaster, "more heads mix faster"},
     {Claim::kMoreFaithful, "more heads are more faithful"}}};

/// One number of a (task, heads, layer) over seeds. Values are the cells' means over samples.
struct SeedSummary {
  std::string task;
  int heads = 0;
  int layer = 0;
  Convention convention = Convention::kExact;
  Quantity quantity;
  std::vector<double> values;  ///< one a seed, in the seeds' order; NaN where undefined
  Interval mean;               ///< over the seeds that define it; infinite if one of them is
  double std = 0.0;            ///< over seeds, n - 1; NaN for one
};

/// The level of the tests.
inline constexpr double kSignificance = 0.05;

/// Trend of a task's layer along at least two head counts; groups are head counts, values are
/// seeds. Rising values support the claim: times enter with the opposite sign.
struct Trend {
  std::string task;
  int layer = 0;
  Convention convention = Convention::kExact;
  Claim claim = Claim::kFaster;
  TestResult test;
  double adjusted_p = 1.0;  ///< by Holm, over all trends of this convention
};

/// How often all heads together beat the best one.
struct SynergyShare {
  std::string task;
  int heads = 0;
  int layer = 0;
  Convention convention = Convention::kExact;
  Share samples;  ///< of all seeds
  Share seeds;    ///< whose mean fidelity is above the best head's mean
};

/// Do fast layers also carry faithfully? Over all (heads, seed, layer) of a task.
struct SpeedFidelity {
  std::string task;
  Convention convention = Convention::kExact;
  int points = 0;
  TestResult test;            ///< Spearman over the points' means
  double within_cells = 0.0;  ///< median over points of the correlation across samples; NaN: none
};

/// What a study's results say, and how surely.
struct Findings {
  int seeds = 0;                       ///< the most that any (task, heads) has
  std::vector<SeedSummary> summaries;  ///< of numbers that at least one seed defines
  std::vector<Trend> trends;
  std::vector<SynergyShare> synergy;  ///< for more than one head
  std::vector<SpeedFidelity> speed_fidelity;
  std::vector<SubsetSummary> subsets;  ///< by task and head count, where they were measured
};

/// The findings of a study. Results may come in any order; the findings do not depend on it.
Findings derive_findings(const std::vector<CellResult>& results);

/// Results of one task by head count, in the seeds' order.
using ResultsByHeads = std::map<int, std::vector<const CellResult*>>;
/// Results by task and head count. They point into `results`.
std::map<std::string, ResultsByHeads> group_results(const std::vector<CellResult>& results);

/// SynergyShare over all head counts and layers of a task.
struct TotalSynergy {
  Share samples;       ///< measurements of a layer on a sample
  Share seeds;         ///< layers, by the means over samples
  double least = 1.0;  ///< shares of samples by head count and layer
  double greatest = 0.0;
};
TotalSynergy total_synergy(const Findings& findings, const std::string& task,
                           Convention convention);

/// What subsets say of all layers together, by head count.
std::vector<const SubsetSummary*> subsets_of_models(const Findings& findings,
                                                    const std::string& task, HeadValue value);

/// The summary of one number; nullptr if there is none.
const SeedSummary* find_summary(const Findings& findings, const std::string& task, int heads,
                                int layer, Convention convention, const Quantity& quantity);

}  // namespace synergraph
#pragma GCC visibility pop
