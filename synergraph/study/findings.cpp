#include "synergraph/study/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

constexpr std::array kConventions = {Convention::kExact, Convention::kPublished};

/// The mean over samples of one number of a cell's layer; NaN where there is none.
double value_of(const CellResult& result, Convention convention, int layer,
                const Quantity& quantity) {
  const std::vector<LayerSummary>& layers = result.layers(convention);
  if (static_cast<std::size_t>(layer) >= layers.size()) return kNan;
  const auto& numbers = layers[static_cast<std::size_t>(layer)].numbers;
  const auto number = numbers.find(quantity);
  return number == numbers.end() ? kNan : number->second.mean;
}

/// One value a seed.
std::vector<double> values_of(const std::vector<const CellResult*>& results, Convention convention,
                              int layer, const Quantity& quantity) {
  std::vector<double> values;
  values.reserve(results.size());
  for (const CellResult* result : results)
    values.push_back(value_of(*result, convention, layer, quantity));
  return values;
}

std::vector<double> defined(std::vector<double> values) {
  values.erase(
      std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); }),
      values.end());
  return values;
}

int layer_count(const ResultsByHeads& by_heads, Convention convention) {
  std::size_t layers = 0;
  for (const auto& [heads, results] : by_heads)
    for (const CellResult* result : results)
      layers = std::max(layers, result->layers(convention).size());
  return static_cast<int>(layers);
}

/// The quantities to summarise, as the cells have them.
std::set<Quantity> summary_quantities(const ResultsByHeads& by_heads, Convention convention) {
  std::set<Quantity> quantities;
  for (const auto& [heads, results] : by_heads)
    for (const CellResult* result : results)
      for (const LayerSummary& layer : result->layers(convention))
        for (const auto& [quantity, number] : layer.numbers) quantities.insert(quantity);
  for (const Quantity quantity :
       {Quantity::kForwardProbability, Quantity::kMinimaxFidelityUpper, Quantity::kMinimaxTime})
    quantities.erase(quantity);
  return quantities;
}

/// One task by one convention.
class TaskFindings {
 public:
  TaskFindings(std::string task, const ResultsByHeads& by_heads, Convention convention)
      : task_(std::move(task)),
        by_heads_(by_heads),
        convention_(convention),
        layers_(layer_count(by_heads, convention)) {}

  void add_summaries(std::vector<SeedSummary>& into) const {
    const std::set<Quantity> quantities = summary_quantities(by_heads_, convention_);
    for (const auto& [heads, results] : by_heads_)
      for (int layer = 0; layer < layers_; ++layer)
        for (const Quantity& quantity : quantities) {
          std::vector<double> values = values_of(results, convention_, layer, quantity);
          const std::vector<double> known = defined(values);
          if (known.empty()) continue;
          into.push_back({task_, heads, layer, convention_, quantity, std::move(values),
                          mean_interval(known), sample_std(known)});
        }
  }

  void add_trends(std::vector<Trend>& into) const {
    for (const auto& [claim, name] : kNamesOf<Claim>)
      for (int layer = 0; layer < layers_; ++layer) {
        const TestResult test = jonckheere_terpstra(groups(claim, layer));
        if (!std::isnan(test.p_value))
          into.push_back({task_, layer, convention_, claim, test, kNan});
      }
  }

  void add_synergy(std::vector<SynergyShare>& into) const {
    for (const auto& [heads, results] : by_heads_)
      for (int layer = 0; heads > 1 && layer < layers_; ++layer)
        into.push_back(synergy_share(heads, results, layer));
  }

  SpeedFidelity speed_fidelity() const {
    std::vector<double> times;
    std::vector<double> fidelities;
    std::vector<double> within;
    for (const auto& [heads, results] : by_heads_)
      for (const CellResult* result : results)
        for (int layer = 0; layer < layers_; ++layer) {
          const double time =
              value_of(*result, convention_, layer, Quantity::kTruncatedHittingMean);
          const double fidelity = value_of(*result, convention_, layer, Quantity::kMinimaxFidelity);
          if (std::isnan(time) || std::isnan(fidelity)) continue;
          times.push_back(time);
          fidelities.push_back(fidelity);
          within.push_back(
              result->layers(convention_)[static_cast<std::size_t>(layer)].rank_correlation);
        }
    return {task_, convention_, static_cast<int>(times.size()), spearman(times, fidelities),
            summarise(within).median};
  }

 private:
  /// Groups of seeds along the head counts, so that the claim is that values rise.
  std::vector<std::vector<double>> groups(Claim claim, int layer) const {
    std::vector<std::vector<double>> groups;
    for (const auto& [heads, results] : by_heads_) {
      groups.push_back(defined(values_of(
          results, convention_, layer,
          claim == Claim::kFaster ? Quantity::kTruncatedHittingMean : Quantity::kMinimaxFidelity)));
      if (claim == Claim::kFaster)
        for (double& value : groups.back()) value = -value;
    }
    return groups;
  }

  SynergyShare synergy_share(int heads, const std::vector<const CellResult*>& results,
                             int layer) const {
    SynergyShare share{task_, heads, layer, convention_, {}, {}};
    for (const CellResult* result : results) {
      const double together = value_of(*result, convention_, layer, Quantity::kMinimaxFidelity);
      const double best = value_of(*result, convention_, layer, Quantity::kBestHeadFidelity);
      if (std::isnan(together) || std::isnan(best)) continue;
      share.samples += result->layers(convention_)[static_cast<std::size_t>(layer)].synergy_share();
      share.seeds += {together > best ? 1 : 0, 1};
    }
    return share;
  }

  std::string task_;
  const ResultsByHeads& by_heads_;
  Convention convention_;
  int layers_;
};

/// Holm's correction, for each convention by itself.
void correct(std::vector<Trend>& trends) {
  for (const Convention convention : kConventions) {
    std::vector<double> p_values;
    for (const Trend& trend : trends)
      if (trend.convention == convention) p_values.push_back(trend.test.p_value);
    const std::vector<double> adjusted = holm(p_values);
    auto next = adjusted.begin();
    for (Trend& trend : trends)
      if (trend.convention == convention) trend.adjusted_p = *next++;
  }
}

}  // namespace

std::map<std::string, ResultsByHeads> group_results(const std::vector<CellResult>& results) {
  std::map<std::string, ResultsByHeads> groups;
  for (const CellResult& result : results)
    groups[result.cell.train.task][result.cell.train.model.heads].push_back(&result);
  for (auto& [task, by_heads] : groups)
    for (auto& [heads, seeds] : by_heads)
      std::stable_sort(seeds.begin(), seeds.end(), [](const CellResult* a, const CellResult* b) {
        return a->cell.train.seed < b->cell.train.seed;
      });
  return groups;
}

Findings derive_findings(const std::vector<CellResult>& results) {
  Findings findings;
  const std::map<std::string, ResultsByHeads> groups = group_results(results);
  for (const auto& [task, by_heads] : groups) {
    for (const auto& [heads, seeds] : by_heads) {
      findings.seeds = std::max(findings.seeds, static_cast<int>(seeds.size()));
      for (SubsetSummary& summary : summarise_subsets(seeds))
        findings.subsets.push_back(std::move(summary));
    }
    for (const Convention convention : kConventions) {
      const TaskFindings of_task(task, by_heads, convention);
      of_task.add_summaries(findings.summaries);
      of_task.add_trends(findings.trends);
      of_task.add_synergy(findings.synergy);
      findings.speed_fidelity.push_back(of_task.speed_fidelity());
    }
  }
  correct(findings.trends);
  return findings;
}

TotalSynergy total_synergy(const Findings& findings, const std::string& task,
                           Convention convention) {
  TotalSynergy total;
  for (const SynergyShare& share : findings.synergy) {
    if (share.task != task || share.convention != convention || share.samples.trials == 0) continue;
    total.samples += share.samples;
    total.seeds += share.seeds;
    total.least = std::min(total.least, share.samples.value());
    total.greatest = std::max(total.greatest, share.samples.value());
  }
  return total;
}

std::vector<const SubsetSummary*> subsets_of_models(const Findings& findings,
                                                    const std::string& task, HeadValue value) {
  std::vector<const SubsetSummary*> found;
  for (const SubsetSummary& summary : findings.subsets)
    if (summary.task == task && summary.value == value &&
        summary.layer == SubsetSummary::kAllLayers)
      found.push_back(&summary);
  return found;
}

const SeedSummary* find_summary(const Findings& findings, const std::string& task, int heads,
                                int layer, Convention convention, const Quantity& quantity) {
  const auto found = std::find_if(
      findings.summaries.begin(), findings.summaries.end(), [&](const SeedSummary& summary) {
        return summary.task == task && summary.heads == heads && summary.layer == layer &&
               summary.convention == convention && summary.quantity == quantity;
      });
  return found == findings.summaries.end() ? nullptr : &*found;
}

}  // namespace synergraph
