#include "synergraph/study/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace synergraph {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kConventions = {Convention::kExact, Convention::kPublished};
constexpr std::array kClaims = {Claim::kFaster, Claim::kMoreFaithful};
constexpr const char* kMixingTimePrefix = "mixing_time_";

/// The mean over samples of one number of a cell's layer; NaN where there is none.
double value_of(const CellResult& result, Convention convention, int layer,
                const std::string& key) {
  const std::vector<LayerResult>& layers = result.layers(convention);
  if (static_cast<std::size_t>(layer) >= layers.size()) return kNan;
  const auto& numbers = layers[static_cast<std::size_t>(layer)].numbers;
  const auto number = numbers.find(key);
  return number == numbers.end() ? kNan : number->second.mean;
}

/// One value a seed.
std::vector<double> values_of(const std::vector<const CellResult*>& results, Convention convention,
                              int layer, const std::string& key) {
  std::vector<double> values;
  values.reserve(results.size());
  for (const CellResult* result : results)
    values.push_back(value_of(*result, convention, layer, key));
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

/// The keys to summarise, in their order; mixing times as the cells have them.
std::vector<std::string> summary_keys(const ResultsByHeads& by_heads, Convention convention) {
  std::vector<std::string> keys = {kSpeedKey, "truncated_hitting_max", "hitting_mean",
                                   "hitting_max"};
  for (const auto& [heads, results] : by_heads)
    for (const CellResult* result : results)
      for (const LayerResult& layer : result->layers(convention))
        for (const auto& [key, number] : layer.numbers)
          if (key.rfind(kMixingTimePrefix, 0) == 0 &&
              std::find(keys.begin(), keys.end(), key) == keys.end())
            keys.push_back(key);
  keys.insert(keys.end(),
              {kFidelityKey, kBestHeadKey, "synergy", "mixing_synergy", "cross_head_share"});
  return keys;
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
    const std::vector<std::string> keys = summary_keys(by_heads_, convention_);
    for (const auto& [heads, results] : by_heads_)
      for (int layer = 0; layer < layers_; ++layer)
        for (const std::string& key : keys) {
          std::vector<double> values = values_of(results, convention_, layer, key);
          const std::vector<double> known = defined(values);
          if (known.empty()) continue;
          into.push_back({task_, heads, layer, convention_, key, std::move(values),
                          mean_interval(known), sample_std(known)});
        }
  }

  void add_trends(std::vector<Trend>& into) const {
    for (const Claim claim : kClaims)
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
          const double time = value_of(*result, convention_, layer, kSpeedKey);
          const double fidelity = value_of(*result, convention_, layer, kFidelityKey);
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
      groups.push_back(defined(values_of(results, convention_, layer,
                                         claim == Claim::kFaster ? kSpeedKey : kFidelityKey)));
      if (claim == Claim::kFaster)
        for (double& value : groups.back()) value = -value;
    }
    return groups;
  }

  SynergyShare synergy_share(int heads, const std::vector<const CellResult*>& results,
                             int layer) const {
    std::int64_t with_synergy = 0;
    std::int64_t samples = 0;
    std::int64_t seeds_with_synergy = 0;
    std::int64_t seeds = 0;
    for (const CellResult* result : results) {
      const double together = value_of(*result, convention_, layer, kFidelityKey);
      const double best = value_of(*result, convention_, layer, kBestHeadKey);
      if (std::isnan(together) || std::isnan(best)) continue;
      const LayerResult& numbers = result->layers(convention_)[static_cast<std::size_t>(layer)];
      with_synergy += numbers.with_synergy;
      samples += static_cast<std::int64_t>(numbers[kFidelityKey].samples);
      seeds_with_synergy += together > best ? 1 : 0;
      ++seeds;
    }
    return {task_,
            heads,
            layer,
            convention_,
            share_interval(with_synergy, samples),
            share_interval(seeds_with_synergy, seeds),
            static_cast<int>(seeds),
            samples};
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
    for (const auto& [heads, seeds] : by_heads)
      findings.seeds = std::max(findings.seeds, static_cast<int>(seeds.size()));
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
    if (share.task != task || share.convention != convention || share.sample_count == 0) continue;
    const double estimate = share.samples.estimate;
    total.samples_with += std::llround(estimate * static_cast<double>(share.sample_count));
    total.samples += share.sample_count;
    total.seeds_with += std::llround(share.seeds.estimate * share.seed_count);
    total.seeds += share.seed_count;
    total.least = std::min(total.least, estimate);
    total.greatest = std::max(total.greatest, estimate);
  }
  return total;
}

const SeedSummary* find_summary(const Findings& findings, const std::string& task, int heads,
                                int layer, Convention convention, const std::string& key) {
  const auto found = std::find_if(
      findings.summaries.begin(), findings.summaries.end(), [&](const SeedSummary& summary) {
        return summary.task == task && summary.heads == heads && summary.layer == layer &&
               summary.convention == convention && summary.key == key;
      });
  return found == findings.summaries.end() ? nullptr : &*found;
}

}  // namespace synergraph
