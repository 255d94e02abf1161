#include "synergraph/analysis/game_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "synergraph/analysis/layer_tally.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/ties.h"
#include "synergraph/subsets/subset_search.h"

namespace synergraph {
namespace {

using Heads = std::vector<int>;  // rising

/// Sets that are asked for at once: often enough for progress, and to stop.
constexpr std::size_t kSetsAtOnce = 256;

/// Asks for the values of sets of one layer.
class LayerGame {
 public:
  LayerGame(int layer, const AttentionLayer& shape, const GameFunction& values,
            const Execution& execution, Progress& progress)
      : layer_(layer),
        samples_(static_cast<std::size_t>(shape.samples)),
        name_(shape.name),
        values_(values),
        execution_(execution),
        progress_(progress) {}

  std::size_t samples() const { return samples_; }

  /// Calls each(k, values of set k on every sample).
  template <class Each>
  void ask(std::span<const Heads> sets, const Each& each) {
    for (std::size_t begin = 0; begin < sets.size(); begin += kSetsAtOnce) {
      execution_.check();
      const auto some = sets.subspan(begin, std::min(kSetsAtOnce, sets.size() - begin));
      std::vector<double> values(some.size() * samples_, std::nan(""));
      values_(layer_, some, values);
      if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
        throw InputError(fmt::format("layer {}: the value of a set of heads is not finite", name_));
      for (std::size_t k = 0; k < some.size(); ++k)
        each(begin + k, std::span(values).subspan(k * samples_, samples_));
      asked_ += some.size();
      progress_.add(some.size());
    }
  }

  /// Values that are remembered: mean over samples, then those of the samples.
  void prepare(const std::vector<Heads>& sets) {
    std::vector<Heads> unknown;
    for (const Heads& set : sets)
      if (known_.try_emplace(set).second) unknown.push_back(set);
    ask(unknown, [&](std::size_t k, std::span<const double> values) {
      std::vector<double>& kept = known_[unknown[k]];
      kept.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                     static_cast<double>(samples_));
      kept.insert(kept.end(), values.begin(), values.end());
    });
  }
  const std::vector<double>& of(const Heads& set) const { return known_.at(set); }

  std::uint64_t asked() const { return asked_; }

 private:
  int layer_;
  std::size_t samples_;
  const std::string& name_;
  const GameFunction& values_;
  const Execution& execution_;
  Progress& progress_;
  std::map<Heads, std::vector<double>> known_;
  std::uint64_t asked_ = 0;
};

/// About how many sets a layer takes.
std::uint64_t sets_of(int heads, const HeadValueOptions& options) {
  if (heads <= options.exact_heads) return std::uint64_t{1} << heads;
  const auto size = static_cast<std::uint64_t>(heads);
  const auto batches = std::max(
      static_cast<std::uint64_t>(options.sampling.least_batches),
      (static_cast<std::uint64_t>(options.sampling.max_permutations) - 1) / (2 * size) + 1);
  const std::uint64_t pairs = options.sampling.pairs ? (heads % 2 == 0 ? 2 : 4) * size * size : 0;
  return batches * (2 * size * (size - 1) + pairs) + size * size;
}

void measure_table(LayerGame& game, LayerTally& tally) {
  const std::size_t subsets = std::size_t{1} << tally.heads();
  std::vector<Heads> sets;
  for (std::size_t s = 0; s < subsets; ++s) sets.push_back(heads_in(static_cast<Subset>(s)));
  std::vector<std::vector<double>> tables(game.samples(), std::vector<double>(subsets));
  game.ask(sets, [&](std::size_t k, std::span<const double> values) {
    for (std::size_t s = 0; s < values.size(); ++s) tables[s][k] = values[s];
  });
  for (std::size_t s = 0; s < tables.size(); ++s)
    tally.add_table(static_cast<int>(s), 0, std::move(tables[s]));
}

LayerHeadValues measure_orders(LayerGame& game, LayerTally& tally,
                               const HeadValueOptions& options) {
  const int heads = tally.heads();
  const std::size_t games = game.samples() + 1;  // the mean over samples is the first
  SamplingOptions sampling = options.sampling;
  sampling.deciding_games = 1;
  sampling.execution = options.execution.part(1);
  std::vector<std::vector<int>> orders;
  const auto prefixes = [&](std::span<const int> order, int begin, int step,
                            std::span<double> into) {
    if (step == 1) orders.emplace_back(order.begin(), order.end());
    std::vector<Heads> sets;
    for (int k = begin; k <= heads; k += step) {
      sets.emplace_back(order.begin(), order.begin() + k);
      std::sort(sets.back().begin(), sets.back().end());
    }
    game.prepare(sets);
    for (std::size_t k = 0; k < sets.size(); ++k)
      std::copy_n(game.of(sets[k]).begin(), games,
                  into.begin() + static_cast<std::ptrdiff_t>(k * games));
  };
  GameSample sampled = sample_games(heads, static_cast<int>(games), prefixes, sampling);

  Heads all(static_cast<std::size_t>(heads));
  std::iota(all.begin(), all.end(), 0);
  std::vector<Heads> alone;
  std::vector<Heads> left;
  for (int h = 0; h < heads; ++h) {
    alone.push_back({h});
    left.push_back(all);
    left.back().erase(left.back().begin() + h);
  }
  game.prepare(alone);
  game.prepare(left);
  SampledIndices mean = std::move(sampled.games.front());
  for (std::size_t s = 0; s < game.samples(); ++s) {
    SampledIndices& indices = sampled.games[s + 1];
    // All samples share the orders: the error that these cause is that of the mean, added below.
    indices.shapley_error.assign(indices.shapley_error.size(), 0.0);
    indices.pairs_error.assign(indices.pairs_error.size(), 0.0);
    indices.reached = mean.reached;
    std::vector<double> each_alone;
    std::vector<double> dropped;
    for (std::size_t h = 0; h < all.size(); ++h) {
      each_alone.push_back(game.of(alone[h])[s + 1]);
      dropped.push_back(indices.all - game.of(left[h])[s + 1]);
    }
    tally.add_sampled(static_cast<int>(s), 0,
                      sample_head_values(std::move(indices), s == 0 ? sampled.permutations : 0,
                                         std::move(each_alone), std::move(dropped)));
  }
  LayerHeadValues layer_value = tally.summarise();
  ValueOfHeads& value = layer_value.values.front();
  for (std::size_t h = 0; h < value.heads.size(); ++h)
    value.heads[h].shapley.error = std::hypot(value.heads[h].shapley.error, mean.shapley_error[h]);
  for (std::size_t k = 0; k < value.pairs.size(); ++k)
    value.pairs[k].index.error = std::hypot(value.pairs[k].index.error, mean.pairs_error[k]);

  SubsetSearchOptions how;
  how.exhaustive = 0;
  how.improve = false;
  how.prepare = [&](const std::vector<Heads>& sets) { game.prepare(sets); };
  how.execution = options.execution.part(1);
  how.orders = {falling_order(mean.shapley)};
  how.orders.insert(how.orders.end(), orders.begin(), orders.end());
  set_found_subsets(value,
                    find_subsets(
                        heads,
                        [&](std::span<const int> set) {
                          return game.of({set.begin(), set.end()})[0];
                        },
                        how),
                    static_cast<int>(game.samples()), options.keep);
  return layer_value;
}

}  // namespace

HeadValues value_games(std::vector<AttentionLayer> layers, const GameFunction& values,
                       const HeadValueOptions& options) {
  HeadValues result{std::move(layers), {}, options, {}};
  result.options.values = {HeadValue::kLoss};
  result.options.weight_samples = 0;
  std::uint64_t total = 0;
  for (const AttentionLayer& layer : result.layers) {
    if (layer.heads < 1 || layer.samples < 1)
      throw InputError(fmt::format("layer {}: {} heads and {} samples: nothing to value",
                                   layer.name, layer.heads, layer.samples));
    result.weights.emplace_back(static_cast<std::size_t>(layer.heads), 1.0 / layer.heads);
    total += sets_of(layer.heads, result.options);
  }
  Progress progress("sets", total, 0, options.execution.progress);
  std::uint64_t finished = 0;
  for (std::size_t l = 0; l < result.layers.size(); ++l) {
    LayerTally tally(result.layers[l].heads, result.layers[l].samples, result.options);
    LayerGame game(static_cast<int>(l), result.layers[l], values, options.execution, progress);
    if (tally.exact()) {
      measure_table(game, tally);
      result.layer_values.push_back(tally.summarise());
    } else {
      result.layer_values.push_back(measure_orders(game, tally, result.options));
    }
    finished += sets_of(result.layers[l].heads, result.options);
    progress.update(finished, "");  // fewer orders may have been enough
  }
  return result;
}

}  // namespace synergraph
