#include "synergraph/analysis/head_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/analysis/layer_tally.h"
#include "synergraph/analysis/metrics_archive.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/ties.h"
#include "synergraph/device/subsets_on_device.h"
#include "synergraph/heads/permuted_heads.h"
#include "synergraph/heads/visit_systems.h"
#include "synergraph/statistics/symmetric_sum.h"
#include "synergraph/subsets/subset_search.h"

namespace synergraph {
namespace {

/// Best weights, and the samples that they are of.
struct FoundWeights {
  BestWeights best;
  int samples = 0;
  // How other weights were judged: on so many samples, those that were chosen without them.
  int judged = 0;
  double size = 0.0;
  double chance = 1.0;
};

template <class Archive>
void archive(Archive& with, FoundWeights& found) {
  with(found.best, found.samples, found.judged, found.size, found.chance);
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
class ValuedLayer {
 public:
  ValuedLayer(int number, const AttentionLayer& layer, const std::vector<double>& weights,
              const HeadValueOptions& options, SubsetsOnDevice& subsets)
      : subsets_(subsets),
        number_(number),
        layer_(layer),
        weights_(weights),
        options_(options),
        tally_(layer.heads, layer.samples, options, layer.sinks),
        moved_shares_(static_cast<std::size_t>(layer.samples)) {}

  LayerTally& tally() { return tally_; }

  /// Measures a sample; `done` is told of every subset that was measured, or once where orders are.
  void measure(int sample, HeadSource& heads, const Execution& execution,
               const std::function<void(std::uint64_t)>& done);

  /// From all samples, but the best subsets of sampled orders.
  LayerHeadValues summarise();
  /// The best subsets of a layer that is sampled, from samples in memory.
  void search_subsets(const HeadSystems& systems, LayerHeadValues& layer_value) const;
  /// The best weights for every value, from samples in memory; `source` has those that judge them.
  void find_weights(const HeadSystems& systems, AttentionSource& source);
  /// The mean over samples of what each head moves, where weights follow from that; or empty.
  std::vector<double> moved_weights() const;
  void take(int sample, PartWriter& part) {
    tally_.take(sample, part);
    part(std::exchange(moved_shares_[static_cast<std::size_t>(sample)], {}));
  }
  void restore(int sample, PartReader& part) {
    tally_.restore(sample, part);
    part(moved_shares_[static_cast<std::size_t>(sample)]);
  }
  bool has_weights() const { return !best_.empty(); }
  void take_weights(PartWriter& part) { part(std::exchange(best_, {})); }
  void restore_weights(PartReader& part);

 private:
  SubsetOptions subset_options(const Execution& execution) const;
  PermutedHeads permuted(int sample, HeadSource& heads) const {
    return PermutedHeads(heads, 0, number_, sample, extra_nodes(layer_.missing_mass));
  }
  void measure_table(int sample, HeadSource& heads, const SubsetOptions& options);
  void measure_orders(int sample, HeadSource& heads, const SubsetOptions& options);
  std::vector<SampleHeadValues> indices_of_orders(int sample, HeadSource& heads,
                                                  const SubsetOptions& options) const;
  BestWeights search_weights(const HeadSystems& systems, HeadValue value, int parts) const;
  void judge_weights(const HeadSystems& systems, AttentionSource& source);
  void search(const HeadSystems& systems, ValueOfHeads& layer_value) const;

  SubsetsOnDevice& subsets_;
  int number_;
  const AttentionLayer& layer_;
  const std::vector<double>& weights_;
  const HeadValueOptions& options_;
  LayerTally tally_;
  std::vector<FoundWeights> best_;                 // [value]
  std::vector<std::vector<double>> moved_shares_;  // [sample]
};

SubsetOptions ValuedLayer::subset_options(const Execution& execution) const {
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

void ValuedLayer::measure(int sample, HeadSource& heads, const Execution& execution,
                          const std::function<void(std::uint64_t)>& done) {
  SubsetOptions options = subset_options(execution);
  moved_shares_[static_cast<std::size_t>(sample)] =
      mean_over_rows(weights_by_row(heads.row_shares(), weights_));
  if (tally_.exact()) {
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

void ValuedLayer::measure_table(int sample, HeadSource& heads, const SubsetOptions& options) {
  SubsetValues values = subsets_.values(heads, weights_, options);
  SubsetValues null;
  if (sample < tally_.null_samples()) {
    PermutedHeads permuted_heads = permuted(sample, heads);
    SubsetOptions silent = options;
    silent.subsets_done = nullptr;
    null = subsets_.values(permuted_heads, weights_, silent);
  }
  for (std::size_t v = 0; v < options_.values.size(); ++v) {
    const bool fidelity = options_.values[v] == HeadValue::kFidelity;
    std::vector<double>& table = fidelity ? values.fidelity : values.speed;
    if (const auto& permuted_table = fidelity ? null.fidelity : null.speed; !permuted_table.empty())
      tally_.compare(sample, v, sample_head_values(table), sample_head_values(permuted_table),
                     table, permuted_table);
    tally_.add_table(sample, v, std::move(table), fidelity ? values.fidelity_gap : 0.0);
  }
}

void ValuedLayer::measure_orders(int sample, HeadSource& heads, const SubsetOptions& options) {
  std::vector<SampleHeadValues> own = indices_of_orders(sample, heads, options);
  if (sample < tally_.null_samples()) {
    PermutedHeads permuted_heads = permuted(sample, heads);
    const std::vector<SampleHeadValues> null = indices_of_orders(sample, permuted_heads, options);
    for (std::size_t v = 0; v < own.size(); ++v) tally_.compare(sample, v, own[v], null[v]);
  }
  for (std::size_t v = 0; v < own.size(); ++v) tally_.add_sampled(sample, v, std::move(own[v]));
}

/// The indices of every value, from sampled orders.
std::vector<SampleHeadValues> ValuedLayer::indices_of_orders(int sample, HeadSource& heads,
                                                             const SubsetOptions& options) const {
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
  GameSample sampled = sample_games(tally_.heads(), static_cast<int>(games), prefixes, sampling);
  std::vector<SubsetValue> alone;
  std::vector<SubsetValue> left;
  for (int h = 0; h < tally_.heads(); ++h) {
    alone.push_back(subsets.value(std::vector<int>{h}));
    left.push_back(subsets.value(heads_without(tally_.heads(), h)));
  }
  std::vector<SampleHeadValues> each;
  for (std::size_t v = 0; v < games; ++v) {
    SampledIndices& game = sampled.games[v];
    std::vector<double> each_alone;
    std::vector<double> dropped;
    double gap = 0.0;
    for (std::size_t h = 0; h < alone.size(); ++h) {
      each_alone.push_back(number_of(alone[h], options_.values[v]));
      dropped.push_back(game.all - number_of(left[h], options_.values[v]));
      if (options_.values[v] == HeadValue::kFidelity)
        for (const SubsetValue& value : {alone[h], left[h]})
          gap = std::max(gap, value.fidelity_upper - value.fidelity);
    }
    each.push_back(sample_head_values(std::move(game), sampled.permutations, std::move(each_alone),
                                      std::move(dropped)));
    each.back().gap = gap;
  }
  return each;
}

std::vector<double> ValuedLayer::moved_weights() const {
  if (moved_shares_.empty()) return {};
  std::vector<double> means = moved_shares_.front();
  for (std::size_t h = 0; h < means.size(); ++h) {
    means[h] = 0.0;
    for (const std::vector<double>& sample : moved_shares_)
      means[h] += sample[h] / static_cast<double>(moved_shares_.size());
  }
  return means;
}

LayerHeadValues ValuedLayer::summarise() {
  LayerHeadValues layer_value = tally_.summarise();
  for (std::size_t v = 0; v < best_.size(); ++v) {
    layer_value.values[v].weights = std::move(best_[v].best);
    layer_value.values[v].weight_samples = best_[v].samples;
    if (best_[v].judged > 0 && layer_value.values[v].held_out)
      layer_value.values[v].held_out->other_weights = {{}, best_[v].size, best_[v].chance};
  }
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
  const RowShares* row_shares() override { return systems_.row_shares(system_); }

 private:
  const HeadSystems& systems_;
  std::size_t system_;
};

void ValuedLayer::search(const HeadSystems& systems, ValueOfHeads& layer_value) const {
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
  set_found_subsets(layer_value, find_subsets(tally_.heads(), value, how),
                    static_cast<int>(systems.size()), options_.keep);
}

void ValuedLayer::search_subsets(const HeadSystems& systems, LayerHeadValues& layer_value) const {
  for (ValueOfHeads& value : layer_value.values) search(systems, value);
}

BestWeights ValuedLayer::search_weights(const HeadSystems& systems, HeadValue value,
                                        int parts) const {
  BestWeightsOptions how = options_.weights;
  how.convention = options_.convention;
  how.execution = options_.execution.part(options_.execution.thread_count());
  if (parts > 0) how.bound_parts = parts;
  return best_weights(systems, weights_,
                      value == HeadValue::kFidelity ? WeightGoal::kFidelity : WeightGoal::kSpeed,
                      how);
}

void ValuedLayer::find_weights(const HeadSystems& systems, AttentionSource& source) {
  best_.clear();
  for (const HeadValue value : options_.values)
    best_.push_back({search_weights(systems, value, 0), static_cast<int>(systems.size())});
  if (tally_.null_samples() > 0) judge_weights(systems, source);
}

/// Judges other weights on samples that were not used to choose them: those after the first ones,
/// or, where these are fewer than half, the second half with weights from the first.
void ValuedLayer::judge_weights(const HeadSystems& systems, AttentionSource& source) {
  const int samples = std::max(2, tally_.null_samples());
  int first = static_cast<int>(systems.size());
  std::vector<std::vector<double>> chosen;
  if (first > samples / 2) {
    first = samples / 2 - samples / 2 % layer_.sinks;
    if (first == 0) return;
    HeadSystems half;
    for (int system = 0; system < first; ++system) {
      SystemHeads heads(systems, static_cast<std::size_t>(system));
      half.add(heads);
    }
    for (const HeadValue value : options_.values)
      chosen.push_back(search_weights(half, value, 1).weights);
  } else {
    first += (layer_.sinks - first % layer_.sinks) % layer_.sinks;
    for (const FoundWeights& found : best_) chosen.push_back(found.best.weights);
  }
  struct Judged {
    double given = 0.0;
    double found = 0.0;
    double excess = 0.0;
  };
  const std::size_t games = options_.values.size();
  std::vector<std::vector<Judged>> each(games,
                                        std::vector<Judged>(static_cast<std::size_t>(samples)));
  std::vector<int> all(static_cast<std::size_t>(tally_.heads()));
  std::iota(all.begin(), all.end(), 0);
  SystemVisit visit{{{first, samples}}, number_, options_.execution};
  visit.execution.progress = {};
  visit_systems(source, visit, [&](const VisitedSystem& system) {
    PermutedHeads permuted_heads = permuted(system.sample, system.heads);
    const auto value = [&](HeadSource& heads, const std::vector<double>& weights, HeadValue of) {
      SubsetOptions options = subset_options(system.execution);
      options.fidelity = of == HeadValue::kFidelity;
      options.speed = !options.fidelity;
      return number_of(HeadSubsets(heads, weights, options).value(all), of);
    };
    for (std::size_t v = 0; v < games; ++v) {
      const HeadValue of = options_.values[v];
      Judged& judged = each[v][static_cast<std::size_t>(system.sample)];
      judged.given = value(system.heads, weights_, of);
      judged.found = value(system.heads, chosen[v], of);
      const double given = value(permuted_heads, weights_, of);
      const double found = value(permuted_heads, chosen[v], of);
      judged.excess = relative_size(judged.found - judged.given, judged.found + judged.given) -
                      relative_size(found - given, found + given);
    }
  });
  for (std::size_t v = 0; v < games; ++v) {
    Judged sum;
    double squares = 0.0;
    for (int sample = first; sample < samples; sample += layer_.sinks) {
      double excess = 0.0;
      for (int k = sample; k < sample + layer_.sinks; ++k) {
        const Judged& judged = each[v][static_cast<std::size_t>(k)];
        sum.given += judged.given;
        sum.found += judged.found;
        excess += judged.excess;
      }
      sum.excess += excess;
      squares += excess * excess;
      ++best_[v].judged;
    }
    if (sum.given > 0.0) best_[v].size = sum.found / sum.given - 1.0;
    best_[v].chance = best_[v].size > 0.0 ? symmetric_sum_chance(sum.excess, squares) : 1.0;
  }
}

void ValuedLayer::restore_weights(PartReader& part) {
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
  if (options.null_samples < 0) throw InputError("fewer than no samples for the null");
  if (options.weight_samples < 0) throw InputError("fewer than no samples for best weights");
}

/// Seconds that one core of a CPU takes to measure all subsets of the heads of a system, roughly.
double subset_seconds(const AttentionLayer& layer) {
  return 1e-9 * std::exp2(layer.heads) * std::pow(layer.nodes(), 3);
}

/// The values of all heads, sample by sample.
class HeadValueSamples {
 public:
  HeadValueSamples(AttentionSource& source, LayerWeights weights, const HeadValueOptions& options)
      : source_(source), head_values_{source.layers(), std::move(weights), options, {}} {
    check_options(options);
    require_weights(source.layers(), head_values_.weights);
    place_sources(head_values_.options.convention.fidelity, head_values_.layers);
    subsets_ = std::make_unique<SubsetsOnDevice>(choose_device());
    for (std::size_t l = 0; l < head_values_.layers.size(); ++l)
      measured_.push_back(std::make_unique<ValuedLayer>(static_cast<int>(l), head_values_.layers[l],
                                                        head_values_.weights[l],
                                                        head_values_.options, *subsets_));
  }

  void measure(const std::vector<SampleRange>& ranges, const ProgressOptions& progress) {
    SystemVisit visit{ranges, {}, head_values_.options.execution};
    visit.execution.progress = progress;
    visit.unit = "subsets";
    visit.work = [this](const AttentionLayer& layer) { return units(layer); };
    visit_systems(source_, visit, [&](const VisitedSystem& system) {
      ValuedLayer& measured = measured_layer(system.layer);
      measured.measure(system.sample, system.heads, system.execution, [&](std::uint64_t count) {
        const auto& layer = head_values_.layers[static_cast<std::size_t>(system.layer)];
        system.done(measured.tally().exact() ? count : units(layer));
      });
    });
  }

  void keep_tables() {
    for (const auto& measured : measured_) measured->tally().keep_tables();
  }
  void take(int sample, PartWriter& part) {
    for (const auto& measured : measured_) measured->take(sample, part);
  }
  void restore(int sample, PartReader& part) {
    for (const auto& measured : measured_) measured->restore(sample, part);
  }

  HeadValues finish() {
    const HeadValueOptions& options = head_values_.options;
    head_values_.measured_on = subsets_->measured_on();
    std::vector<std::pair<std::size_t, std::vector<double>>> moved_weights;
    Progress progress("best weights", measured_.size(), 0, options.execution.progress);
    for (std::size_t l = 0; l < measured_.size(); ++l) {
      ValuedLayer& measured = *measured_[l];
      const bool weigh = options.weight_samples > 0 && !measured.has_weights();
      const HeadSystems systems = weigh || !measured.tally().exact()
                                      ? first_samples(source_, static_cast<int>(l), options)
                                      : HeadSystems();
      if (weigh) measured.find_weights(systems, source_);
      head_values_.layer_values.push_back(measured.summarise());
      if (!measured.tally().exact())
        measured.search_subsets(systems, head_values_.layer_values.back());
      if (std::vector<double> moved = measured.moved_weights(); !moved.empty())
        moved_weights.emplace_back(l, std::move(moved));
      progress.update(l + 1, "");
    }
    // At last: the layers refer to the weights that they were measured with.
    for (auto& [l, weights] : moved_weights) head_values_.weights[l] = std::move(weights);
    return std::move(head_values_);
  }

  /// The search for the best weights of one layer, on its own.
  void find_weights(int layer) {
    measured_layer(layer).find_weights(first_samples(source_, layer, head_values_.options),
                                       source_);
  }
  void take_weights(int layer, PartWriter& part) { measured_layer(layer).take_weights(part); }
  void restore_weights(int layer, PartReader& part) { measured_layer(layer).restore_weights(part); }

 private:
  ValuedLayer& measured_layer(int layer) { return *measured_[static_cast<std::size_t>(layer)]; }
  /// A layer that is sampled counts as a table of the most heads that are not.
  std::uint64_t units(const AttentionLayer& layer) const {
    return std::uint64_t{1} << std::min(layer.heads, head_values_.options.exact_heads);
  }

  MeasuringDevice choose_device() const {
    const HeadValueOptions& options = head_values_.options;
    double seconds = 0.0;
    for (const AttentionLayer& layer : head_values_.layers)
      if (layer.heads <= options.exact_heads) seconds += layer.samples * subset_seconds(layer);
    return choose_measuring_device({options.device, options.device_optional, options.worker},
                                   seconds);
  }

  AttentionSource& source_;
  std::unique_ptr<SubsetsOnDevice> subsets_;
  HeadValues head_values_;
  std::vector<std::unique_ptr<ValuedLayer>> measured_;
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
    const std::optional<StackOptions>& stack_options, const LayerWeights& stack_weights,
    const SharedSamples& how,
    const std::function<void(HeadValues, std::optional<StackAnalysis>)>& finish) {
  HeadValueSamples samples(source, weights, options);
  samples.keep_tables();
  std::optional<StackAnalysis> stack;
  if (stack_options) stack = begin_stack(source, stack_weights, *stack_options);
  SampleWork work;
  work.cost = 0.0;
  for (const AttentionLayer& layer : source.layers())
    work.cost += std::exp2(std::min(0, options.exact_heads - layer.heads)) * subset_seconds(layer);
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
    if (stack) measure_stacks(source, stack_weights, of_samples, *stack);
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
