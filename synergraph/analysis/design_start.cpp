#include "synergraph/analysis/design_start.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "synergraph/core/parallel.h"
#include "synergraph/core/random.h"

namespace synergraph {
namespace {

/// A shape whose layers have sizes in these proportions.
struct Outline {
  std::vector<double> layers;  ///< share of each layer
  int indegree = 1;
  int collectors = 0;
  int links = 0;
  int linked_layers = 0;
  int linked_heads = 1;
  double slow_from = 1.0;  ///< share of the layers, from the sink, before they become slow
  double slowest = 1.0;    ///< heads that move in the first layer

  auto key() const {
    return std::tie(indegree, collectors, links, linked_layers, linked_heads, slow_from, slowest);
  }
};

/// Whole sizes of at least 1 that sum to `total`, by largest remainders.
std::vector<int> whole_sizes(const std::vector<double>& shares, int total) {
  double sum = 0.0;
  for (const double share : shares) sum += share;
  const auto count = static_cast<int>(shares.size());
  std::vector<int> sizes(shares.size(), 1);
  std::vector<std::pair<double, std::size_t>> rest;
  int left = total - count;
  const double room = left;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const double wanted = std::max(0.0, shares[k] / sum * total - 1.0);
    const double scaled = std::min(wanted, room);
    rest.emplace_back(-(scaled - std::floor(scaled)), k);
    const int more = std::min(left, static_cast<int>(std::floor(scaled)));
    sizes[k] += more;
    left -= more;
  }
  std::sort(rest.begin(), rest.end());
  for (std::size_t r = 0; left > 0; r = (r + 1) % rest.size(), --left) ++sizes[rest[r].second];
  return sizes;
}

/// The shares with another number of layers.
std::vector<double> stretched(const std::vector<double>& shares, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double place = (static_cast<double>(k) + 0.5) / static_cast<double>(count) *
                             static_cast<double>(shares.size()) -
                         0.5;
    const double low = std::clamp(std::floor(place), 0.0, static_cast<double>(shares.size() - 1));
    const auto left = static_cast<std::size_t>(low);
    const std::size_t right = std::min(left + 1, shares.size() - 1);
    const double share = std::clamp(place - low, 0.0, 1.0);
    result[k] = shares[left] * (1.0 - share) + shares[right] * share;
  }
  return result;
}

/// How good an outline is: within the limits the minimax fidelity, else something negative.
struct Judged {
  double value = -1e300;
  Outline outline;
  LayeredShape shape;
};

class ShapeSearch {
 public:
  ShapeSearch(int nodes, int heads, const DesignLimits& limits, const Execution& execution)
      : nodes_(nodes), heads_(heads), limits_(limits), execution_(execution) {}

  DesignEdges run() {
    std::vector<Outline> first;
    const int log = static_cast<int>(std::ceil(std::log2(nodes_)));
    for (int layers = 2; layers <= nodes_ / 2; layers += (layers + 1) / 2)
      for (const int collectors : {0, 1, 4, 12})
        for (const int indegree : {log, nodes_}) {
          Outline outline;
          outline.layers.assign(static_cast<std::size_t>(layers), 1.0);
          outline.collectors = outline.links = collectors;
          outline.linked_layers = layers;
          outline.indegree = indegree;
          outline.linked_heads = heads_;
          outline.slowest = heads_;
          first.push_back(outline);
          if (heads_ == 1) continue;
          outline.slowest = 1.0;
          outline.slow_from = 0.3;
          first.push_back(outline);
        }
    std::vector<Judged> tops = judge(first);
    std::stable_sort(tops.begin(), tops.end(),
                     [](const Judged& a, const Judged& b) { return a.value > b.value; });
    // The best of both kinds, with slow layers and without.
    std::vector<Judged> chosen;
    for (const bool slow : {false, true}) {
      int taken = 0;
      for (const Judged& one : tops)
        if ((one.outline.slow_from < 1.0) == slow && taken++ < 2) chosen.push_back(one);
    }
    tops = std::move(chosen);
    Judged best = tops.front();
    for (Judged& top : tops) {
      climb(top);
      balance(top.shape, top.value);
      if (top.value > best.value) best = top;
    }
    return layered_edges(best.shape, heads_);
  }

 private:
  void climb(Judged& top) const {
    constexpr int kRounds = 30;
    for (int round = 0; round < kRounds; ++round) {
      Judged next;
      for (Judged& judged : judge(neighbours(top.outline)))
        if (judged.value > next.value) next = std::move(judged);
      if (!(next.value > top.value)) return;
      top = std::move(next);
    }
  }

  /// Moves nodes one by one from faint layers to loud ones while that helps.
  void balance(LayeredShape& shape, double& value) const {
    const std::size_t layers = shape.sizes.size();
    std::vector<double> loud(layers);
    if (!(value > 0.0)) return;
    judge(shape, &loud);
    for (int moves = 0; moves < nodes_; ++moves) {
      execution_.check();
      std::vector<std::size_t> order(layers);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return loud[a] < loud[b]; });
      // The mean loudness that a layer would keep with one more node tells who can take one.
      const auto after = [&](std::size_t k) {
        return loud[k] * shape.sizes[k] / (shape.sizes[k] + 1.0);
      };
      std::vector<std::size_t> takers = order;
      std::stable_sort(takers.begin(), takers.end(),
                       [&](std::size_t a, std::size_t b) { return after(a) > after(b); });
      constexpr std::size_t kTries = 4;
      bool better = false;
      for (std::size_t from = 0; from < std::min(kTries, layers) && !better; ++from)
        for (std::size_t to = 0; to < std::min(kTries, layers) && !better; ++to) {
          if (order[from] == takers[to] || shape.sizes[order[from]] < 2) continue;
          LayeredShape next = shape;
          --next.sizes[order[from]];
          ++next.sizes[takers[to]];
          better = take(next, shape, value, loud);
        }
      // A faint layer may be slower, and one beside it faster.
      for (std::size_t from = 0; heads_ > 1 && from < std::min(kTries, layers) && !better; ++from)
        for (const int place : {-1, 0, 1})
          for (const int more : {-1, 1}) {
            const auto k = static_cast<std::ptrdiff_t>(order[from]) + place;
            if (better || k < 1 || k >= static_cast<std::ptrdiff_t>(layers)) continue;
            LayeredShape next = shape;
            int& movers = next.movers[static_cast<std::size_t>(k)];
            movers += more;
            if (movers >= 1 && movers <= heads_) better = take(next, shape, value, loud);
          }
      if (!better) return;
    }
  }

  /// Takes a shape if it is better.
  bool take(const LayeredShape& next, LayeredShape& shape, double& value,
            std::vector<double>& loud) const {
    std::vector<double> next_loud(loud.size());
    const double next_value = judge(next, &next_loud);
    if (!(next_value > value)) return false;
    shape = next;
    value = next_value;
    loud = std::move(next_loud);
    return true;
  }

  std::vector<Outline> neighbours(const Outline& outline) const {
    std::vector<Outline> result;
    const auto with = [&](const auto& change) {
      Outline next = outline;
      change(next);
      const auto layers = static_cast<int>(next.layers.size());
      next.collectors = std::clamp(next.collectors, 0, nodes_ / 2);
      next.links = std::clamp(next.links, 0, next.collectors);
      next.linked_layers = std::clamp(next.linked_layers, 0, layers);
      next.indegree = std::clamp(next.indegree, 1, nodes_);
      if (next.layers.size() != outline.layers.size() || next.key() != outline.key())
        result.push_back(std::move(next));
    };
    const auto layers = static_cast<int>(outline.layers.size());
    for (const int more : {-layers / 3, -layers / 8, -2, -1, 1, 2, layers / 8, layers / 2}) {
      const int wanted = layers + more;
      if (wanted < 1) continue;
      with([&](Outline& o) {
        o.layers = stretched(o.layers, static_cast<std::size_t>(wanted));
        o.linked_layers = o.linked_layers == layers ? layers + more : o.linked_layers;
      });
    }
    for (const int more : {-6, -2, -1, 1, 2, 6}) {
      with([&](Outline& o) {
        const bool all = o.links == o.collectors;
        o.collectors = std::max(0, o.collectors + more);
        if (all) o.links = o.collectors;
      });
    }
    for (const int more : {-2, -1, 1, 2}) with([&](Outline& o) { o.links += more; });
    for (const int more : {-layers / 4, -1, 1, layers / 4})
      with([&](Outline& o) { o.linked_layers += more; });
    for (const int more : {-2, -1, 1, 2}) with([&](Outline& o) { o.indegree += more; });
    for (const double factor : {0.6, 0.8, 1.25, 1.6})
      with([&](Outline& o) { o.indegree = static_cast<int>(std::lround(o.indegree * factor)); });
    if (heads_ > 1) {
      for (const double more : {-0.2, -0.05, 0.05, 0.2})
        with([&](Outline& o) { o.slow_from = std::clamp(o.slow_from + more, 0.0, 1.0); });
      for (const double factor : {0.5, 0.8, 1.25, 2.0})
        with([&](Outline& o) {
          o.slowest = std::clamp(o.slowest * factor, 1.0, static_cast<double>(heads_));
        });
      for (const int more : {-1, 1})
        with([&](Outline& o) { o.linked_heads = std::clamp(o.linked_heads + more, 1, heads_); });
    }
    return result;
  }

  /// The heads that move: all near the sink, then fewer by the same factor from layer to layer.
  std::vector<int> movers(const Outline& outline) const {
    const auto layers = static_cast<double>(outline.layers.size());
    std::vector<int> result;
    for (double k = 0.0; k < layers; ++k) {
      const double depth = (layers - k) / layers;
      const double ramp =
          std::clamp((depth - outline.slow_from) / (1.0 - outline.slow_from + 1e-9), 0.0, 1.0);
      result.push_back(std::clamp(
          static_cast<int>(std::lround(heads_ * std::pow(outline.slowest / heads_, ramp))), 1,
          heads_));
    }
    return result;
  }

  std::vector<Judged> judge(const std::vector<Outline>& outlines) const {
    std::vector<Judged> judged(outlines.size());
    parallel_for(outlines.size(), execution_.threads, [&](std::size_t k, int) {
      execution_.check();
      judged[k] = judge(outlines[k]);
    });
    return judged;
  }

  Judged judge(Outline outline) const {
    Judged best;
    best.outline = outline;
    constexpr int kPasses = 3;
    for (int pass = 0; pass < kPasses; ++pass) {
      const int total = nodes_ - 1 - outline.collectors;
      if (total < static_cast<int>(outline.layers.size())) break;
      LayeredShape shape;
      shape.sizes = whole_sizes(outline.layers, total);
      shape.indegree = outline.indegree;
      shape.collectors = outline.collectors;
      shape.links = outline.links;
      shape.linked_layers = outline.linked_layers;
      shape.linked_heads = outline.linked_heads;
      shape.movers = movers(outline);
      std::vector<double> loud(outline.layers.size());
      const double value = judge(shape, &loud);
      if (value > best.value) best = {value, outline, shape};
      if (value < -kTooMany) break;
      // Layers that are louder than others may have more nodes.
      for (std::size_t k = 0; k < loud.size(); ++k)
        outline.layers[k] = std::max(loud[k] * shape.sizes[k], 1e-6);
    }
    return best;
  }

  static constexpr double kTooMany = 1e9;

  /// How good a shape is, and the mean fidelity of each layer.
  double judge(const LayeredShape& shape, std::vector<double>* loud) const {
    const std::int64_t edges = count_edges(shape, heads_);
    if (edges > limits_.edges)
      return -kTooMany * static_cast<double>(edges) / static_cast<double>(limits_.edges);
    const DesignEdges made = layered_edges(shape, heads_);
    DesignScore score(made, limits_, search_horizon(nodes_));
    score.start();
    int begin = 0;
    for (std::size_t k = 0; k < loud->size(); ++k) {
      double sum = 0.0;
      for (int p = 0; p < shape.sizes[k]; ++p) sum += score.fidelity(begin++);
      (*loud)[k] = sum / shape.sizes[k];
    }
    // Both the weakest node and the weak ones: the minimum alone stands still under most changes.
    return score.slowness() > 1.0
               ? -score.slowness()
               : std::sqrt(score.minimax() * DesignScore::mean_fidelity(score.badness(), nodes_));
  }

  int nodes_, heads_;
  DesignLimits limits_;
  const Execution& execution_;
};

}  // namespace

std::int64_t search_horizon(int nodes) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 23) / nodes, 64, 2048);
}

DesignEdges best_layers(int nodes, int heads, const DesignLimits& limits,
                        const Execution& execution) {
  return ShapeSearch(nodes, heads, limits, execution).run();
}

void trim(DesignEdges& edges, std::int64_t limit, std::uint64_t seed) {
  struct Place {
    int head, from, to;
  };
  std::vector<Place> all;
  for (int h = 0; h < edges.heads(); ++h)
    for (int j = 0; j < edges.nodes(); ++j)
      for (const std::int32_t i : edges.receivers(h, j)) all.push_back({h, j, i});
  RandomSequence random(seed, Purpose::kDesign);
  for (std::size_t k = all.size(); k > 1; --k) std::swap(all[k - 1], all[random.below(k)]);
  for (const bool spare : {true, false})
    for (const Place& place : all) {
      if (edges.count() <= limit) return;
      if (!edges.has(place.head, place.from, place.to)) continue;
      if (spare && edges.receivers(place.head, place.from).size() < 2) continue;
      edges.remove(place.head, place.from, place.to);
    }
}

DesignEdges random_edges(int nodes, int heads, std::int64_t limit, std::uint64_t seed) {
  DesignEdges edges(nodes, heads);
  for (int j = 0; j + 1 < nodes && edges.count() < limit; ++j) edges.add(j % heads, j, j + 1);
  const std::int64_t most = std::int64_t{heads} * nodes * (nodes + std::int64_t{1}) / 2;
  RandomSequence random(seed, Purpose::kDesign);
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
  };
  // Where nearly all edges are there, chance takes long to find another.
  for (std::int64_t tries = 0; edges.count() < std::min(limit, most) && tries < 20 * limit;
       ++tries) {
    const int h = below(heads);
    const int a = below(nodes);
    const int b = below(nodes);
    if (a != b && !edges.has(h, std::min(a, b), std::max(a, b)))
      edges.add(h, std::min(a, b), std::max(a, b));
  }
  return edges;
}

}  // namespace synergraph
