#include "synergraph/analysis/head_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "synergraph/analysis/metrics_archive.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/ties.h"
#include "synergraph/heads/visit_systems.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/subset_search.h"

namespace synergraph {
namespace {

/// A sum of tables that come from several threads: always in the order of the samples.
class TableSum {
 public:
  void add(int sample, std::vector<double> table) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(sample, std::move(table));
    for (auto next = waiting_.find(next_); next != waiting_.end(); next = waiting_.find(next_)) {
      if (sum_.empty()) sum_.assign(next->second.size(), 0.0);
      for (std::size_t s = 0; s < sum_.size(); ++s) sum_[s] += next->second[s];
      waiting_.erase(next);
      ++next_;
    }
  }

  std::vector<double> mean() {
    for (double& value : sum_) value /= next_;
    return std::move(sum_);
  }

 private:
  std::mutex mutex_;
  std::map<int, std::vector<double>> waiting_;
  std::vector<double> sum_;
  int next_ = 0;
};

/// What one sample says of one value.
struct SampleHeadValues {
  double all = 0.0;
  double gap = 0.0;
  std::vector<double> shapley;
  std::vector<double> banzhaf;
  std::vector<double> alone;
  std::vector<double> dropped;
  std::vector<double> pairs;
  std::vector<double> triples;
  // Standard errors of sampled ones
  std::vector<double> shapley_error;
  std::vector<double> pairs_error;
  std::int64_t permutations = 0;
  bool precise = true;
};

template <class Archive>
void archive(Archive& with, SampleHeadValues& layer_value) {
  with(layer_value.all, layer_value.gap, layer_value.shapley, layer_value.banzhaf,
       layer_value.alone, layer_value.dropped, layer_value.pairs, layer_value.triples,
       layer_value.shapley_error, layer_value.pairs_error, layer_value.permutations,
       layer_value.precise);
}

/// Best weights, and the samples that they are of.
struct FoundWeights {
  BestWeights best;
  int samples = 0;
};

template <class Archive>
void archive(Archive& with, FoundWeights& found) {
  with(found.best, found.samples);
}

SampleHeadValues value_of_table(const std::vector<double>& values, int heads) {
  GameIndices indices = game_indices(values);
  SampleHeadValues layer_value;
  const Subset all = all_heads(heads);
  layer_value.all = values[all];
  for (int h = 0; h < heads; ++h) {
    layer_value.alone.push_back(values[Subset{1} << h]);
    layer_value.dropped.push_back(values[all] - values[all & ~(Subset{1} << h)]);
  }
  layer_value.shapley = std::move(indices.shapley);
  layer_value.banzhaf = std::move(indices.banzhaf);
  layer_value.pairs = std::move(indices.pairs);
  layer_value.triples = std::move(indices.triples);
  return layer_value;
}

double number_of(const SubsetValue& value, HeadValue which) {
  return which == HeadValue::kFidelity ? value.fidelity : value.speed;
}

/// All but the heads in `without`, rising.
std::vector<int> heads_without(int heads, int without) {
  std::vector<int> left;
  for (int h = 0; h < heads; ++h)
    if (h != without) left.push_back(h);
  return left;
}

/// One layer: its samples, and what comes of them.
class LayerTally {
 public:
  LayerTally(const AttentionLayer& layer, const std::vector<double>& weights,
             const HeadValueOptions& options)
      : layer_(layer),
        weights_(weights),
        options_(options),
        exact_(layer.heads <= options.exact_heads),
        layer_values_(options.values.size()),
        tables_(options.values.size()) {
    for (auto& samples : layer_values_) samples.resize(static_cast<std::size_t>(layer.samples));
  }

  bool exact() const { return exact_; }

  /// Measures a sample; `done` is told of every subset that was measured, or once where orders are.
  void measure(int sample, HeadSource& heads, const Execution& execution,
               const std::function<void(std::uint64_t)>& done);

  /// Tables are kept, one a sample, until they are taken.
  void keep_tables() { kept_.emplace(options_.values.size()); }
  /// What was measured on a sample; it is not needed any more.
  void take(int sample, PartWriter& part);
  /// Takes it in again, samples in order.
  void restore(int sample, PartReader& part);

  /// From all samples, but what finish_with() adds.
  LayerHeadValues summarise();

  /// The best subsets of a layer that is sampled, from samples in memory.
  void search_subsets(const HeadSystems& systems, LayerHeadValues& layer_value) const;
  /// The best weights for every value, from samples in memory.
  void find_weights(const HeadSystems& systems);
  bool has_weights() const { return !best_.empty(); }
  void take_weights(PartWriter& part) { part(std::exchange(best_, {})); }
  void restore_weights(PartReader& part);

 private:
  SubsetOptions subset_options(const Execution& execution) const;
  void measure_table(int sample, HeadSource& heads, const SubsetOptions& options);
  void measure_orders(int sample, HeadSource& heads, const SubsetOptions& options);
  template <class Number>
  Estimate over_samples(std::size_t v, const Number& number) const;
  ValueOfHeads summarise_value(std::size_t v);
  void prune(std::size_t v, ValueOfHeads& layer_value);
  void search(const HeadSystems& systems, ValueOfHeads& layer_value) const;

  const AttentionLayer& layer_;
  const std::vector<double>& weights_;
  const HeadValueOptions& options_;
  bool exact_;
  std::vector<std::vector<SampleHeadValues>> layer_values_;  // [value][sample]
  std::vector<TableSum> tables_;                             // [value]
  std::mutex kept_mutex_;
  std::optional<std::vector<std::map<int, std::vector<double>>>> kept_;  // [value], by sample
  std::vector<FoundWeights> best_;                                       // [value]
};

SubsetOptions LayerTally::subset_options(const Execution& execution) const {
  SubsetOptions options;
  options.convention = options_.convention;
  const auto wanted = [&](HeadValue value) {
    return std::find(options_.values.begin(), options_.values.end(), value) !=
           options_.values.end();
  };
  options.fidelity = wanted(HeadValue::kFidelity);
  options.speed = wanted(HeadValue::kSpeed);
  options.execution = execution;
  return options;
}

void LayerTally::measure(int sample, HeadSource& heads, const Execution& execution,
                         const std::function<void(std::uint64_t)>& done) {
  SubsetOptions options = subset_options(execution);
  if (exact_) {
    std::uint64_t before = 0;
    options.subsets_done = [&](std::uint64_t so_far) {
      done(so_far - before);
      before = so_far;
    };
    measure_table(sample, heads, options);
  } else {
    measure_orders(sample, heads, options);
    done(1);
  }
}

void LayerTally::measure_table(int sample, HeadSource& heads, const SubsetOptions& options) {
  SubsetValues values = subset_values(heads, weights_, options);
  for (std::size_t v = 0; v < options_.values.size(); ++v) {
    const bool fidelity = options_.values[v] == HeadValue::kFidelity;
    std::vector<double>& table = fidelity ? values.fidelity : values.speed;
    SampleHeadValues layer_value = value_of_table(table, layer_.heads);
    if (fidelity) layer_value.gap = values.fidelity_gap;
    layer_values_[v][static_cast<std::size_t>(sample)] = std::move(layer_value);
    if (kept_) {
      const std::lock_guard lock(kept_mutex_);
      (*kept_)[v][sample] = std::move(table);
    } else {
      tables_[v].add(sample, std::move(table));
    }
  }
}

void LayerTally::take(int sample, PartWriter& part) {
  if (sample >= layer_.samples) return;
  for (std::size_t v = 0; v < layer_values_.size(); ++v) {
    part(std::exchange(layer_values_[v][static_cast<std::size_t>(sample)], {}));
    if (exact_) part((*kept_)[v].extract(sample).mapped());
  }
}

void LayerTally::restore(int sample, PartReader& part) {
  if (sample >= layer_.samples) return;
  for (std::size_t v = 0; v < layer_values_.size(); ++v) {
    part(layer_values_[v][static_cast<std::size_t>(sample)]);
    if (!exact_) continue;
    std::vector<double> table;
    part(table);
    if (table.size() != std::size_t{1} << layer_.heads) throw InputError("a table of other heads");
    tables_[v].add(sample, std::move(table));
  }
}

void LayerTally::measure_orders(int sample, HeadSource& heads, const SubsetOptions& options) {
  const HeadSubsets subsets(heads, weights_, options);
  const std::size_t games = options_.values.size();
  SamplingOptions sampling = options_.sampling;
  sampling.pairs = true;
  sampling.seed += static_cast<std::uint64_t>(sample);
  sampling.execution = options.execution;
  const auto prefixes = [&](std::span<const int> order, int begin, int step,
                            std::span<double> into) {
    const std::vector<SubsetValue> values = subsets.prefix_values(order, begin, step);
    for (std::size_t k = 0; k < into.size() / games; ++k)
      for (std::size_t v = 0; v < games; ++v)
        into[k * games + v] = number_of(values[k], options_.values[v]);
  };
  GameSample sampled = sample_games(layer_.heads, static_cast<int>(games), prefixes, sampling);
  std::vector<SubsetValue> alone;
  std::vector<SubsetValue> left;
  for (int h = 0; h < layer_.heads; ++h) {
    alone.push_back(subsets.value(std::vector<int>{h}));
    left.push_back(subsets.value(heads_without(layer_.heads, h)));
  }
  for (std::size_t v = 0; v < games; ++v) {
    SampledIndices& game = sampled.games[v];
    SampleHeadValues& layer_value = layer_values_[v][static_cast<std::size_t>(sample)];
    layer_value.all = game.all;
    layer_value.banzhaf.assign(static_cast<std::size_t>(layer_.heads), kNan);
    for (std::size_t h = 0; h < alone.size(); ++h) {
      layer_value.alone.push_back(number_of(alone[h], options_.values[v]));
      layer_value.dropped.push_back(game.all - number_of(left[h], options_.values[v]));
      if (options_.values[v] == HeadValue::kFidelity)
        for (const SubsetValue& value : {alone[h], left[h]})
          layer_value.gap = std::max(layer_value.gap, value.fidelity_upper - value.fidelity);
    }
    layer_value.shapley = std::move(game.shapley);
    layer_value.shapley_error = std::move(game.shapley_error);
    layer_value.pairs = std::move(game.pairs);
    layer_value.pairs_error = std::move(game.pairs_error);
    layer_value.permutations = sampled.permutations;
    layer_value.precise = game.reached;
  }
}

template <class Number>
Estimate LayerTally::over_samples(std::size_t v, const Number& number) const {
  std::vector<double> values;
  for (const SampleHeadValues& layer_value : layer_values_[v])
    values.push_back(number(layer_value));
  return estimate(values);
}

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
    if (exact_) return;
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
    for (std::vector<int>& heads : sets_of(layer_.heads, size)) {
      const std::size_t k = all.size();
      all.push_back({std::move(heads), over_samples(v, [&](const SampleHeadValues& sample) {
                       return (sample.*numbers)[k];
                     })});
    }
    return all;
  };
  layer_value.pairs = interactions(&SampleHeadValues::pairs, 2);
  for (std::size_t k = 0; k < layer_value.pairs.size(); ++k)
    sampled(layer_value.pairs[k].index, &SampleHeadValues::pairs_error, k);
  if (exact_) {
    layer_value.triples = interactions(&SampleHeadValues::triples, 3);
    prune(v, layer_value);
  }
  return layer_value;
}

HeadSet set_of(const SubsetChoice& choice) {
  return {heads_in(choice.heads), choice.value};
}

void LayerTally::prune(std::size_t v, ValueOfHeads& layer_value) {
  const std::vector<double> values = tables_[v].mean();
  Pruning& pruning = layer_value.pruning;
  for (const SubsetChoice& choice : best_subsets(values)) pruning.best.push_back(set_of(choice));
  pruning.certified.assign(pruning.best.size(), layer_value.gap == 0.0);
  pruning.samples = layer_.samples;
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
  layer_value.exact = exact_;
  for (std::size_t v = 0; v < options_.values.size(); ++v)
    layer_value.values.push_back(summarise_value(v));
  // The orders are those of every value.
  for (std::size_t v = 0; v < best_.size(); ++v) {
    layer_value.values[v].weights = std::move(best_[v].best);
    layer_value.values[v].weight_samples = best_[v].samples;
  }
  for (const SampleHeadValues& sample : layer_values_.front())
    layer_value.permutations += sample.permutations;
  for (const auto& samples : layer_values_)
    for (const SampleHeadValues& sample : samples)
      layer_value.precise = layer_value.precise && sample.precise;
  return layer_value;
}

/// Heads of one system among several.
class SystemHeads : public HeadSource {
 public:
  SystemHeads(const HeadSystems& systems, std::size_t system)
      : systems_(systems), system_(system) {}
  int heads() const override { return systems_.heads(); }
  int nodes() const override { return systems_.nodes(system_); }
  const MirroredMatrix& head(int h) override { return systems_.diffusion(system_, h); }
  const Walk* own_walk(int h) override { return systems_.own_walk(system_, h); }

 private:
  const HeadSystems& systems_;
  std::size_t system_;
};

void LayerTally::search(const HeadSystems& systems, ValueOfHeads& layer_value) const {
  SubsetOptions options = subset_options(options_.execution.part(1));
  options.fidelity = layer_value.value == HeadValue::kFidelity;
  options.speed = !options.fidelity;
  std::vector<HeadSubsets> each;
  for (std::size_t system = 0; system < systems.size(); ++system) {
    SystemHeads heads(systems, system);
    each.emplace_back(heads, weights_, options);
  }
  const auto value = [&](std::span<const int> heads) {
    double sum = 0.0;
    for (const HeadSubsets& subsets : each)
      sum += number_of(subsets.value(heads), layer_value.value);
    return sum / static_cast<double>(each.size());
  };
  std::vector<double> shapley;
  for (const ValueOfHead& head : layer_value.heads) shapley.push_back(head.shapley.mean);
  SubsetSearchOptions how;
  how.execution = options_.execution.part(options_.execution.thread_count());
  how.orders = {falling_order(shapley)};
  FoundSubsets found = find_subsets(layer_.heads, value, how);
  Pruning& pruning = layer_value.pruning;
  pruning.samples = static_cast<int>(systems.size());
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
    layer_value.smallest = *std::find_if(
        pruning.best.begin(), pruning.best.end(),
        [&](const HeadSet& set) { return reaches(set.value, options_.keep * all.value); });
  for (const HeadSet& set : pruning.best) {
    if (!exceeds(set.value, all.value)) continue;
    ++layer_value.beating;
    if (!layer_value.better || exceeds(set.value, layer_value.better->value))
      layer_value.better = set;
  }
}

void LayerTally::search_subsets(const HeadSystems& systems, LayerHeadValues& layer_value) const {
  for (ValueOfHeads& value : layer_value.values) search(systems, value);
}

void LayerTally::find_weights(const HeadSystems& systems) {
  BestWeightsOptions how = options_.weights;
  how.convention = options_.convention;
  how.execution = options_.execution.part(options_.execution.thread_count());
  best_.clear();
  for (const HeadValue value : options_.values)
    best_.push_back(
        {best_weights(systems, weights_,
                      value == HeadValue::kFidelity ? WeightGoal::kFidelity : WeightGoal::kSpeed,
                      how),
         static_cast<int>(systems.size())});
}

void LayerTally::restore_weights(PartReader& part) {
  part(best_);
  if (best_.size() != options_.values.size()) throw InputError("weights for other values");
  for (const FoundWeights& found : best_)
    if (found.best.weights.size() != weights_.size()) throw InputError("weights of other heads");
}

/// The first samples of a layer, as many as are wanted and the memory holds; at least one.
HeadSystems first_samples(AttentionSource& source, int layer, const HeadValueOptions& options) {
  const AttentionLayer& shape = source.layers()[static_cast<std::size_t>(layer)];
  const double bytes = 8.0 * shape.heads * shape.nodes() * static_cast<double>(shape.nodes());
  const double held = static_cast<double>(options.execution.memory.bytes()) / 2 / bytes;
  const int wanted = std::min(
      options.weight_samples > 0 ? options.weight_samples : HeadValueOptions().weight_samples,
      shape.samples);
  const int count = static_cast<int>(std::clamp(held, 1.0, static_cast<double>(wanted)));
  std::vector<HeadSystems> each(static_cast<std::size_t>(count));
  visit_systems(source, {{{0, count}}, layer, options.execution}, [&](const VisitedSystem& system) {
    each[static_cast<std::size_t>(system.sample)].add(system.heads);
  });
  HeadSystems systems;
  for (HeadSystems& sample : each) systems.add(std::move(sample));
  return systems;
}

void check_options(const HeadValueOptions& options) {
  if (options.values.empty()) throw InputError("no value of heads to measure");
  if (!(options.keep >= 0.0 && options.keep <= 1.0))
    throw InputError(fmt::format("a share to keep of {} is not in 0 to 1", options.keep));
  if (options.exact_heads < 1 || options.exact_heads > kMaxExactHeads)
    throw InputError(
        fmt::format("all subsets of {} heads: at most of {}", options.exact_heads, kMaxExactHeads));
  if (options.weight_samples < 0) throw InputError("fewer than no samples for best weights");
}

/// The values of all heads, sample by sample.
class HeadValueSamples {
 public:
  HeadValueSamples(AttentionSource& source, LayerWeights weights, const HeadValueOptions& options)
      : source_(source), head_values_{source.layers(), std::move(weights), options, {}} {
    check_options(options);
    require_weights(source.layers(), head_values_.weights);
    for (std::size_t l = 0; l < head_values_.layers.size(); ++l)
      tallies_.push_back(std::make_unique<LayerTally>(
          head_values_.layers[l], head_values_.weights[l], head_values_.options));
  }

  void measure(const std::vector<SampleRange>& ranges, const ProgressOptions& progress) {
    SystemVisit visit{ranges, {}, head_values_.options.execution};
    visit.execution.progress = progress;
    visit.unit = "subsets";
    visit.work = [this](const AttentionLayer& layer) { return units(layer); };
    visit_systems(source_, visit, [&](const VisitedSystem& system) {
      LayerTally& tally = tally_of(system.layer);
      tally.measure(system.sample, system.heads, system.execution, [&](std::uint64_t count) {
        const auto& layer = head_values_.layers[static_cast<std::size_t>(system.layer)];
        system.done(tally.exact() ? count : units(layer));
      });
    });
  }

  void keep_tables() {
    for (const auto& tally : tallies_) tally->keep_tables();
  }
  void take(int sample, PartWriter& part) {
    for (const auto& tally : tallies_) tally->take(sample, part);
  }
  void restore(int sample, PartReader& part) {
    for (const auto& tally : tallies_) tally->restore(sample, part);
  }

  HeadValues finish() {
    const HeadValueOptions& options = head_values_.options;
    Progress progress("best weights", tallies_.size(), 0, options.execution.progress);
    for (std::size_t l = 0; l < tallies_.size(); ++l) {
      LayerTally& tally = *tallies_[l];
      const bool weigh = options.weight_samples > 0 && !tally.has_weights();
      const HeadSystems systems = weigh || !tally.exact()
                                      ? first_samples(source_, static_cast<int>(l), options)
                                      : HeadSystems();
      if (weigh) tally.find_weights(systems);
      head_values_.layer_values.push_back(tally.summarise());
      if (!tally.exact()) tally.search_subsets(systems, head_values_.layer_values.back());
      progress.update(l + 1, "");
    }
    return std::move(head_values_);
  }

  /// The search for the best weights of one layer, on its own.
  void find_weights(int layer) {
    tally_of(layer).find_weights(first_samples(source_, layer, head_values_.options));
  }
  void take_weights(int layer, PartWriter& part) { tally_of(layer).take_weights(part); }
  void restore_weights(int layer, PartReader& part) { tally_of(layer).restore_weights(part); }

 private:
  LayerTally& tally_of(int layer) { return *tallies_[static_cast<std::size_t>(layer)]; }
  /// A layer that is sampled counts as a table of the most heads that are not.
  std::uint64_t units(const AttentionLayer& layer) const {
    return std::uint64_t{1} << std::min(layer.heads, head_values_.options.exact_heads);
  }

  AttentionSource& source_;
  HeadValues head_values_;
  std::vector<std::unique_ptr<LayerTally>> tallies_;
};

}  // namespace

std::vector<HeadValue> ordered_values(const std::vector<HeadValue>& given) {
  std::vector<HeadValue> ordered;
  for (const auto& [value, name] : kNamesOf<HeadValue>)
    if (std::find(given.begin(), given.end(), value) != given.end()) ordered.push_back(value);
  return ordered;
}

HeadValues value_heads(AttentionSource& source, LayerWeights weights,
                       const HeadValueOptions& options) {
  HeadValueSamples samples(source, std::move(weights), options);
  samples.measure({{0, source.most_samples()}}, options.execution.progress);
  return samples.finish();
}

SharedEnd value_heads_shared(
    AttentionSource& source, const LayerWeights& weights, const HeadValueOptions& options,
    const std::optional<StackOptions>& stack_options, const SharedSamples& how,
    const std::function<void(HeadValues, std::optional<StackAnalysis>)>& finish) {
  HeadValueSamples samples(source, weights, options);
  samples.keep_tables();
  std::optional<StackAnalysis> stack;
  if (stack_options) stack = begin_stack(source, weights, *stack_options);
  SampleWork work;
  work.cost = 0.0;
  for (const AttentionLayer& layer : source.layers())
    work.cost +=
        1e-9 * std::exp2(std::min(layer.heads, options.exact_heads)) * std::pow(layer.nodes(), 3);
  const int count = source.most_samples();
  if (options.weight_samples > 0) work.searches = static_cast<int>(source.layers().size());
  work.search_name = "weights of layer";
  work.search_cost = work.cost * std::min(count, options.weight_samples);
  work.measure = [&](const std::vector<SampleRange>& ranges) {
    std::vector<SampleRange> of_samples;
    for (const SampleRange& range : ranges) {
      if (range.begin >= count)
        samples.find_weights(range.begin - count);
      else
        of_samples.push_back(range);
    }
    if (of_samples.empty()) return;
    if (stack) measure_stacks(source, weights, of_samples, *stack);
    samples.measure(of_samples, {});
  };
  work.take = [&](const SampleRange& range) {
    PartWriter part;
    if (range.begin >= count) {
      samples.take_weights(range.begin - count, part);
      return part.take();
    }
    archive_knowledge(part, source, range);
    for (int s = range.begin; s < range.end; ++s) {
      if (stack) part(std::exchange(stack->each[static_cast<std::size_t>(s)], {}));
      samples.take(s, part);
    }
    return part.take();
  };
  work.restore = [&](const SampleRange& range, std::string_view bytes) {
    PartReader part(bytes);
    if (range.begin >= count) return samples.restore_weights(range.begin - count, part);
    archive_knowledge(part, source, range);
    for (int s = range.begin; s < range.end; ++s) {
      if (stack) part(stack->each[static_cast<std::size_t>(s)]);
      samples.restore(s, part);
    }
  };
  work.finish = [&] {
    if (stack) finish_stack(*stack);
    finish(samples.finish(), std::move(stack));
  };
  return share_samples(how, count, options.execution, work);
}

}  // namespace synergraph
