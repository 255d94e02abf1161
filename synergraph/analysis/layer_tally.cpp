#include "synergraph/analysis/layer_tally.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/ties.h"
#include "synergraph/subsets/game.h"

namespace synergraph {
namespace {

/// Sets of `size` heads in lexicographic order, as the indices of a game come.
std::vector<std::vector<int>> sets_of(int heads, int size) {
  std::vector<std::vector<int>> sets;
  std::vector<int> set(static_cast<std::size_t>(size));
  const auto extend = [&](const auto& self, std::size_t at, int first) -> void {
    if (at == set.size()) {
      sets.push_back(set);
      return;
    }
    for (int h = first; h < heads; ++h) {
      set[at] = h;
      self(self, at + 1, h + 1);
    }
  };
  extend(extend, 0, 0);
  return sets;
}

HeadSet set_of(const SubsetChoice& choice) {
  return {heads_in(choice.heads), choice.value};
}

}  // namespace

SampleHeadValues sample_head_values(const std::vector<double>& table) {
  const int heads = heads_of_table(table);
  GameIndices indices = game_indices(table);
  SampleHeadValues values;
  const Subset all = all_heads(heads);
  values.all = table[all];
  for (int h = 0; h < heads; ++h) {
    values.alone.push_back(table[Subset{1} << h]);
    values.dropped.push_back(table[all] - table[all & ~(Subset{1} << h)]);
  }
  values.shapley = std::move(indices.shapley);
  values.banzhaf = std::move(indices.banzhaf);
  values.pairs = std::move(indices.pairs);
  values.triples = std::move(indices.triples);
  return values;
}

SampleHeadValues sample_head_values(SampledIndices sampled, std::int64_t permutations,
                                    std::vector<double> alone, std::vector<double> dropped) {
  SampleHeadValues values;
  values.all = sampled.all;
  values.banzhaf.assign(alone.size(), kNan);
  values.alone = std::move(alone);
  values.dropped = std::move(dropped);
  values.shapley = std::move(sampled.shapley);
  values.shapley_error = std::move(sampled.shapley_error);
  values.pairs = std::move(sampled.pairs);
  values.pairs_error = std::move(sampled.pairs_error);
  values.permutations = permutations;
  values.precise = sampled.reached;
  return values;
}

void TableSum::add(int sample, std::vector<double> table) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(sample, std::move(table));
  for (auto next = waiting_.find(next_); next != waiting_.end(); next = waiting_.find(next_)) {
    if (sum_.empty()) sum_.assign(next->second.size(), 0.0);
    for (std::size_t s = 0; s < sum_.size(); ++s) sum_[s] += next->second[s];
    waiting_.erase(next);
    ++next_;
  }
}

std::vector<double> TableSum::mean() {
  for (double& value : sum_) value /= next_;
  return std::move(sum_);
}

LayerTally::LayerTally(int heads, int samples, const HeadValueOptions& options)
    : heads_(heads),
      samples_(samples),
      options_(options),
      layer_values_(options.values.size()),
      tables_(options.values.size()) {
  for (auto& values : layer_values_) values.resize(static_cast<std::size_t>(samples));
}

void LayerTally::add_sampled(int sample, std::size_t value, SampleHeadValues indices) {
  layer_values_[value][static_cast<std::size_t>(sample)] = std::move(indices);
}

void LayerTally::add_table(int sample, std::size_t value, std::vector<double> table, double gap) {
  SampleHeadValues indices = sample_head_values(table);
  indices.gap = gap;
  add_sampled(sample, value, std::move(indices));
  if (!kept_) return tables_[value].add(sample, std::move(table));
  const std::lock_guard lock(kept_mutex_);
  (*kept_)[value][sample] = std::move(table);
}

void LayerTally::take(int sample, PartWriter& part) {
  if (sample >= samples_) return;
  for (std::size_t v = 0; v < layer_values_.size(); ++v) {
    part(std::exchange(layer_values_[v][static_cast<std::size_t>(sample)], {}));
    if (exact()) part((*kept_)[v].extract(sample).mapped());
  }
}

void LayerTally::restore(int sample, PartReader& part) {
  if (sample >= samples_) return;
  for (std::size_t v = 0; v < layer_values_.size(); ++v) {
    part(layer_values_[v][static_cast<std::size_t>(sample)]);
    if (!exact()) continue;
    std::vector<double> table;
    part(table);
    if (table.size() != std::size_t{1} << heads_) throw InputError("a table of other heads");
    tables_[v].add(sample, std::move(table));
  }
}

template <class Number>
Estimate LayerTally::over_samples(std::size_t v, const Number& number) const {
  std::vector<double> values;
  for (const SampleHeadValues& layer_value : layer_values_[v])
    values.push_back(number(layer_value));
  return estimate(values);
}

ValueOfHeads LayerTally::summarise_value(std::size_t v) {
  const std::vector<SampleHeadValues>& samples = layer_values_[v];
  ValueOfHeads layer_value;
  layer_value.value = options_.values[v];
  layer_value.all = over_samples(v, [](const SampleHeadValues& sample) { return sample.all; });
  for (const SampleHeadValues& sample : samples)
    layer_value.gap = std::max(layer_value.gap, sample.gap);
  // No error is below what sampling orders alone explains.
  const auto sampled = [&](Estimate& number, const std::vector<double> SampleHeadValues::*errors,
                           std::size_t k) {
    if (exact()) return;
    double squares = 0.0;
    for (const SampleHeadValues& sample : samples) squares += std::pow((sample.*errors)[k], 2);
    const double least = std::sqrt(squares) / static_cast<double>(samples.size());
    number.error = std::isnan(number.error) ? least : std::max(number.error, least);
  };
  for (std::size_t h = 0; h < samples.front().shapley.size(); ++h) {
    const auto over = [&](const std::vector<double> SampleHeadValues::*numbers) {
      return over_samples(v, [&](const SampleHeadValues& sample) { return (sample.*numbers)[h]; });
    };
    ValueOfHead& head = layer_value.heads.emplace_back();
    head = {over(&SampleHeadValues::shapley), over(&SampleHeadValues::banzhaf),
            over(&SampleHeadValues::alone), over(&SampleHeadValues::dropped)};
    sampled(head.shapley, &SampleHeadValues::shapley_error, h);
  }
  const auto interactions = [&](const std::vector<double> SampleHeadValues::*numbers, int size) {
    std::vector<Interaction> all;
    for (std::vector<int>& heads : sets_of(heads_, size)) {
      const std::size_t k = all.size();
      all.push_back({std::move(heads), over_samples(v, [&](const SampleHeadValues& sample) {
                       return (sample.*numbers)[k];
                     })});
    }
    return all;
  };
  if (!samples.front().pairs.empty()) layer_value.pairs = interactions(&SampleHeadValues::pairs, 2);
  for (std::size_t k = 0; k < layer_value.pairs.size(); ++k)
    sampled(layer_value.pairs[k].index, &SampleHeadValues::pairs_error, k);
  if (exact()) {
    layer_value.triples = interactions(&SampleHeadValues::triples, 3);
    prune(v, layer_value);
  }
  return layer_value;
}

void LayerTally::prune(std::size_t v, ValueOfHeads& layer_value) {
  const std::vector<double> values = tables_[v].mean();
  Pruning& pruning = layer_value.pruning;
  for (const SubsetChoice& choice : best_subsets(values)) pruning.best.push_back(set_of(choice));
  pruning.certified.assign(pruning.best.size(), layer_value.gap == 0.0);
  pruning.samples = samples_;
  pruning.addition = greedy_addition(values);
  pruning.removal = greedy_removal(values);
  pruning.shapley = shapley_path(values);
  layer_value.smallest = set_of(smallest_subset(values, options_.keep));
  const BetterSubsets better = subsets_beating_all(values);
  layer_value.beating = better.count;
  if (better.best) layer_value.better = set_of(*better.best);
}

LayerHeadValues LayerTally::summarise() {
  LayerHeadValues layer_value;
  layer_value.exact = exact();
  for (std::size_t v = 0; v < options_.values.size(); ++v)
    layer_value.values.push_back(summarise_value(v));
  // The orders are those of every value.
  for (const SampleHeadValues& sample : layer_values_.front())
    layer_value.permutations += sample.permutations;
  for (const auto& samples : layer_values_)
    for (const SampleHeadValues& sample : samples)
      layer_value.precise = layer_value.precise && sample.precise;
  return layer_value;
}

void set_found_subsets(ValueOfHeads& layer_value, FoundSubsets found, int samples, double keep) {
  Pruning& pruning = layer_value.pruning;
  pruning.samples = samples;
  pruning.addition = std::move(found.addition);
  pruning.removal = std::move(found.removal);
  pruning.shapley = std::move(found.orders.front());
  for (FoundSubset& best : found.best) {
    pruning.certified.push_back(best.certified && layer_value.gap == 0.0);
    pruning.best.push_back({std::move(best.heads), best.value});
  }
  const HeadSet& all = pruning.best.back();
  // Samples on which all heads together are worth nothing say nothing of what keeps their value.
  layer_value.smallest = all;
  if (all.value > 0.0 || !(layer_value.all.mean > 0.0))
    layer_value.smallest =
        *std::find_if(pruning.best.begin(), pruning.best.end(),
                      [&](const HeadSet& set) { return reaches(set.value, keep * all.value); });
  for (const HeadSet& set : pruning.best) {
    if (!exceeds(set.value, all.value)) continue;
    ++layer_value.beating;
    if (!layer_value.better || exceeds(set.value, layer_value.better->value))
      layer_value.better = set;
  }
}

}  // namespace synergraph
