#pragma once

// Heads that were never measured, for tests of what is made of their head_values.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "synergraph/report/heads_report.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/pruning.h"

namespace synergraph::testing_support {

/// Tables of the values of all subsets, one a sample.
using Tables = std::vector<std::vector<double>>;

/// What stands out in these numbers, as if 100 other samples had shown it beyond doubt.
inline HeldOutClaims sure_claims(const ValueOfHeads& value) {
  HeldOutClaims claims;
  claims.samples = 100;
  const double all = value.all.mean > 0.0 ? value.all.mean : 1.0;
  for (const Interaction& pair : value.pairs) {
    const double size = pair.index.mean / all;
    auto& claim = size < 0.0 ? claims.redundant : claims.complementary;
    if (!claim || std::abs(size) > std::abs(claim->size)) claim = {pair.heads, size, 0.0};
  }
  for (std::size_t h = 0; h < value.heads.size(); ++h)
    if (const double size = -value.heads[h].dropped.mean / all;
        size > 0.0 && (!claims.better_without || size > claims.better_without->size))
      claims.better_without = {{static_cast<int>(h)}, size, 0.0};
  if (value.better) claims.better_set = {value.better->heads, value.better->value / all - 1.0, 0.0};
  return claims;
}

/// What tables of one value say over samples.
inline ValueOfHeads value_of_tables(HeadValue value, const Tables& tables, double keep = 0.95) {
  const int count = heads_of_table(tables.front());
  const auto heads = static_cast<std::size_t>(count);
  std::vector<GameIndices> indices;
  std::vector<double> mean(tables.front().size());
  for (const std::vector<double>& table : tables) {
    indices.push_back(game_indices(table));
    for (std::size_t s = 0; s < mean.size(); ++s)
      mean[s] += table[s] / static_cast<double>(tables.size());
  }
  const auto over_samples = [&](const auto& number) {
    std::vector<double> numbers;
    for (std::size_t k = 0; k < tables.size(); ++k) numbers.push_back(number(k));
    return estimate(numbers);
  };
  ValueOfHeads layer_value;
  layer_value.value = value;
  layer_value.all = over_samples([&](std::size_t k) { return tables[k].back(); });
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t alone = std::size_t{1} << h;
    ValueOfHead& head = layer_value.heads.emplace_back();
    head.shapley = over_samples([&](std::size_t k) { return indices[k].shapley[h]; });
    head.banzhaf = over_samples([&](std::size_t k) { return indices[k].banzhaf[h]; });
    head.alone = over_samples([&](std::size_t k) { return tables[k][alone]; });
    head.dropped = over_samples(
        [&](std::size_t k) { return tables[k].back() - tables[k][mean.size() - 1 - alone]; });
  }
  const auto interactions = [&](int order, std::vector<double> GameIndices::*index) {
    std::vector<Interaction> all;
    if (order > count) return all;
    const std::vector<Subset> sets = subsets_of_size(count, order);
    for (std::size_t s = 0; s < sets.size(); ++s)
      all.push_back(
          {heads_in(sets[s]), over_samples([&](std::size_t k) { return (indices[k].*index)[s]; })});
    return all;
  };
  layer_value.pairs = interactions(2, &GameIndices::pairs);
  layer_value.triples = interactions(3, &GameIndices::triples);
  const auto set_of = [](const SubsetChoice& choice) {
    return HeadSet{heads_in(choice.heads), choice.value};
  };
  for (const SubsetChoice& choice : best_subsets(mean))
    layer_value.pruning.best.push_back(set_of(choice));
  layer_value.pruning.certified.assign(layer_value.pruning.best.size(), true);
  layer_value.pruning.samples = static_cast<int>(tables.size());
  layer_value.pruning.addition = greedy_addition(mean);
  layer_value.pruning.removal = greedy_removal(mean);
  layer_value.pruning.shapley = shapley_path(mean);
  layer_value.smallest = set_of(smallest_subset(mean, keep));
  const BetterSubsets better = subsets_beating_all(mean);
  layer_value.beating = better.count;
  if (better.best) layer_value.better = set_of(*better.best);
  if (tables.size() > 1 && count > 1) layer_value.held_out = sure_claims(layer_value);
  return layer_value;
}

/// Heads that all carry the same signal with a chance, v(S) = 1 - prod over S of (1 - q_h), of
/// which each takes a share away.
inline std::vector<double> overlapping_heads(const std::vector<double>& chances,
                                             const std::vector<double>& costs = {}) {
  std::vector<double> table(std::size_t{1} << chances.size());
  for (std::size_t s = 0; s < table.size(); ++s) {
    double missed = 1.0;
    double cost = 0.0;
    for (std::size_t h = 0; h < chances.size(); ++h) {
      if ((s >> h & 1U) == 0) continue;
      missed *= 1.0 - chances[h];
      if (!costs.empty()) cost += costs[h];
    }
    table[s] = (1.0 - missed) * (1.0 - cost);
  }
  return table;
}

/// A report on layers of these layer_values.
inline HeadsReport report_of(std::vector<LayerHeadValues> layer_values, int samples) {
  HeadsReport report;
  report.weights = "uniform";
  for (std::size_t l = 0; l < layer_values.size(); ++l) {
    const auto heads = layer_values[l].values.front().heads.size();
    report.head_values.layers.push_back(
        {std::to_string(l + 1), samples, static_cast<int>(heads), 100});
    report.head_values.weights.emplace_back(heads, 1.0 / static_cast<double>(heads));
  }
  report.head_values.options.values.clear();
  for (const ValueOfHeads& value : layer_values.front().values)
    report.head_values.options.values.push_back(value.value);
  report.head_values.layer_values = std::move(layer_values);
  return report;
}

/// Numbers from 0 to 1 that look random.
inline double scattered(std::uint64_t index) {
  const double x = 43758.5453 * std::sin(12.9898 * static_cast<double>(index + 1));
  return x - std::floor(x);
}

/// Layers of so many heads with both values, some of which hinder.
inline HeadsReport invented_head_values(int layers, int heads, int samples) {
  std::vector<LayerHeadValues> layer_values;
  std::uint64_t next = 0;
  for (int l = 0; l < layers; ++l) {
    LayerHeadValues& layer_value = layer_values.emplace_back();
    for (const HeadValue value : {HeadValue::kFidelity, HeadValue::kSpeed}) {
      std::vector<double> chances;
      std::vector<double> costs;
      for (int h = 0; h < heads; ++h) {
        chances.push_back(0.01 + 0.6 * std::pow(scattered(next++), 4.0));
        costs.push_back(0.02 * scattered(next++));
      }
      Tables tables;
      for (int k = 0; k < samples; ++k) {
        std::vector<double> others = chances;
        for (double& chance : others) chance *= 0.95 + 0.1 * scattered(next++);
        tables.push_back(overlapping_heads(others, costs));
        // The last two heads are worth more together.
        for (std::size_t s = 0; heads > 2 && s < tables.back().size(); ++s)
          if (s >> static_cast<unsigned>(heads - 2) == 3) tables.back()[s] += 0.02;
      }
      layer_value.values.push_back(value_of_tables(value, tables));
    }
  }
  return report_of(std::move(layer_values), samples);
}

/// What permutations cannot say goes.
inline void make_sampled(LayerHeadValues& layer_value) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  layer_value.exact = false;
  layer_value.permutations = 512;
  for (ValueOfHeads& value : layer_value.values) {
    value.triples.clear();
    value.pruning.certified.assign(value.pruning.certified.size(), false);
    for (ValueOfHead& head : value.heads) head.banzhaf = {kNone, kNone};
  }
}

/// A sampled layer of any number of heads, worth h + 1 parts of all each, that do not interact.
inline LayerHeadValues independent_heads(int heads) {
  LayerHeadValues layer_value;
  ValueOfHeads& value = layer_value.values.emplace_back();
  value.all = {1.0, 0.01};
  std::vector<double> worth;
  std::vector<int> order;
  for (int h = 0; h < heads; ++h) {
    worth.push_back(2.0 * (h + 1) / (heads * (heads + 1.0)));
    const Estimate own{worth.back(), 0.001};
    value.heads.push_back({own, own, own, own});
    order.insert(order.begin(), h);
    for (int other = 0; other < h; ++other) value.pairs.push_back({{other, h}, {0.0, 0.001}});
  }
  PruningPath path{order, {}, std::vector<double>(static_cast<std::size_t>(heads) + 1, 0.0)};
  double sum = 0.0;
  for (int k = 0; k <= heads; ++k) {
    path.value.push_back(sum);
    std::vector<int> best(order.begin(), order.begin() + k);
    std::reverse(best.begin(), best.end());
    value.pruning.best.push_back({best, sum});
    if (value.smallest.heads.empty() && sum >= 0.95) value.smallest = {best, sum};
    if (k < heads) sum += worth[static_cast<std::size_t>(heads - 1 - k)];
  }
  value.pruning.addition = value.pruning.removal = value.pruning.shapley = path;
  value.pruning.certified.resize(value.pruning.best.size());
  value.pruning.samples = 1;
  make_sampled(layer_value);
  return layer_value;
}

/// The stack of the layers of a report.
inline StackAnalysis invented_stack(const HeadsReport& report) {
  StackAnalysis stack;
  stack.layers = report.head_values.layers;
  stack.samples = stack.layers.front().samples;
  stack.fidelity = {0.0012, 0.0001};
  stack.effective_tokens = {12.5, 0.25};
  const auto tokens = static_cast<std::size_t>(stack.layers.front().tokens);
  stack.signal.assign(tokens, {1.0 / static_cast<double>(tokens), 0.001});
  stack.weakest.assign(tokens, 0);
  stack.weakest[0] = stack.samples;
  std::uint64_t next = 0;
  for (const AttentionLayer& layer : stack.layers) {
    LayerFlow& flow = stack.flows.emplace_back();
    flow.residual = {0.3 + 0.3 * scattered(next++), 0.01};
    double total = 0.0;
    for (int h = 0; h < layer.heads; ++h) {
      flow.heads.push_back({std::pow(scattered(next++), 3.0), 0.001});
      total += flow.heads.back().mean;
    }
    for (Estimate& head : flow.heads) head.mean *= (1.0 - flow.residual.mean) / total;
  }
  return stack;
}

}  // namespace synergraph::testing_support
