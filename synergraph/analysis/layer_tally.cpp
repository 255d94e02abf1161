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

LayerTally::LayerTally(int heads, int samples, const HeadValueOptions& options, int sinks)
    : heads_(heads),
      samples_(samples),
      options_(options),
      sinks_(sinks),
      layer_values_(options.values.size()),
      tables_(options.values.size()) {
  for (auto& values : layer_values_) values.resize(static_cast<std::size_t>(samples));
  for (std::size_t v = 0; v < options.values.size(); ++v)
    candidates_.push_back(std::make_unique<Candidates>(sinks));
}

void LayerTally::keep_tables() {
  kept_.emplace(options_.values.size());
  for (const auto& candidates : candidates_)
    for (HeldOutSums* sums : {&candidates->pairs, &candidates->dropped, &candidates->sets})
      sums->keep();
}

int LayerTally::null_samples() const {
  const int most = samples_ / sinks_;
  return heads_ > 1 && most > 1 ? sinks_ * std::min(most, options_.null_samples) : 0;
}

void LayerTally::compare(int sample, std::size_t value, const SampleHeadValues& own,
                         const SampleHeadValues& permuted, const std::vector<double>& own_table,
                         const std::vector<double>& permuted_table) {
  Candidates& candidates = *candidates_[value];
  CandidateSample pairs{own.all, own.pairs, {}};
  for (std::size_t k = 0; k < own.pairs.size(); ++k)
    pairs.excesses.push_back(relative_size(own.pairs[k], own.all) -
                             relative_size(permuted.pairs[k], permuted.all));
  candidates.pairs.add(sample, std::move(pairs));
  // A gain of b over a, both at least 0, is (b - a) / (b + a) in relation to both.
  const auto gain = [](double a, double b) { return a + b > 0.0 ? (b - a) / (a + b) : 0.0; };
  CandidateSample dropped{own.all, {}, {}};
  for (std::size_t h = 0; h < own.dropped.size(); ++h) {
    dropped.sizes.push_back(-own.dropped[h]);
    dropped.excesses.push_back(gain(own.all, own.all - own.dropped[h]) -
                               gain(permuted.all, permuted.all - permuted.dropped[h]));
  }
  candidates.dropped.add(sample, std::move(dropped));
  if (own_table.empty()) return;
  CandidateSample sets{own.all, {}, {}};
  for (std::size_t s = 0; s < own_table.size(); ++s) {
    sets.sizes.push_back(own_table[s] - own.all);
    sets.excesses.push_back(gain(own.all, own_table[s]) - gain(permuted.all, permuted_table[s]));
  }
  candidates.sets.add(sample, std::move(sets));
}

std::optional<HeldOutClaims> LayerTally::judge(std::size_t v) const {
  const Candidates& candidates = *candidates_[v];
  if (candidates.dropped.samples() < 2) return std::nullopt;
  const auto claim = [](const std::optional<JudgedChoice>& judged, const auto& heads_of) {
    std::optional<HeldOutClaim> made;
    if (judged) made = {heads_of(judged->chosen), judged->size, judged->chance};
    return made;
  };
  const auto pair = [&](std::size_t k) { return sets_of(heads_, 2)[k]; };
  HeldOutClaims claims;
  claims.samples = candidates.dropped.samples();
  claims.redundant = claim(candidates.pairs.judge(-1.0), pair);
  claims.complementary = claim(candidates.pairs.judge(1.0), pair);
  claims.better_without = claim(candidates.dropped.judge(1.0), [](std::size_t h) {
    return std::vector<int>{static_cast<int>(h)};
  });
  claims.better_set = claim(candidates.sets.judge(1.0),
                            [](std::size_t s) { return heads_in(static_cast<Subset>(s)); });
  return claims;
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
    if (sample < null_samples())
      for (HeldOutSums* sums :
           {&candidates_[v]->pairs, &candidates_[v]->dropped, &candidates_[v]->sets})
        sums->take(sample, part);
    if (exact()) part((*kept_)[v].extract(sample).mapped());
  }
}

void LayerTally::restore(int sample, PartReader& part) {
  if (sample >= samples_) return;
  for (std::size_t v = 0; v < layer_values_.size(); ++v) {
    part(layer_values_[v][static_cast<std::size_t>(sample)]);
    if (sample < null_samples())
      for (HeldOutSums* sums :
           {&candidates_[v]->pairs, &candidates_[v]->dropped, &candidates_[v]->sets})
        sums->restore(sample, part);
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
  const std::vector<SampleHeadValues>& samples = layer_values_[v];
  for (std::size_t first = 0; first < samples.size(); first += static_cast<std::size_t>(sinks_)) {
    double sum = number(samples[first]);
    for (int k = 1; k < sinks_; ++k) sum += number(samples[first + static_cast<std::size_t>(k)]);
    values.push_back(sinks_ == 1 ? sum : sum / sinks_);
  }
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
  layer_value.held_out = judge(v);
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
