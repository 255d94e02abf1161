#include "synergraph/graph/sparse_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

std::size_t at(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

void check_offsets(const std::vector<std::int64_t>& first, std::size_t receivers,
                   const std::string& where) {
  const auto nodes = static_cast<std::int64_t>(first.size()) - 1;
  if (nodes < 1 || nodes > kMaxSparseNodes)
    throw InputError(fmt::format("{}a sparse graph has 1 to {} nodes, not {}", where,
                                 kMaxSparseNodes, std::max<std::int64_t>(nodes, 0)));
  if (first.front() != 0 || first.back() != static_cast<std::int64_t>(receivers))
    throw InputError(fmt::format(
        "{}the offsets of the nodes run from {} to {}; they must run from 0 to the number of "
        "edges, {}",
        where, first.front(), first.back(), receivers));
  for (std::size_t j = 0; j + 1 < first.size(); ++j)
    if (first[j + 1] < first[j])
      throw InputError(
          fmt::format("{}the offset of node {} is {}, below that of the node before, {}", where,
                      j + 1, first[j + 1], first[j]));
}

}  // namespace

SparseGraph::SparseGraph(std::vector<std::int64_t> first, ScratchVector<std::int32_t> receivers,
                         ScratchVector<double> weights, bool self_loops, const std::string& where,
                         const Execution& execution)
    : first_(std::move(first)), receivers_(std::move(receivers)), weights_(std::move(weights)) {
  check_offsets(first_, receivers_.size(), where);
  if (!weights_.empty() && weights_.size() != receivers_.size())
    throw InputError(
        fmt::format("{}{} weights for {} edges", where, weights_.size(), receivers_.size()));
  self_.assign(first_.size() - 1, 0.0);
  sort_rows(where, execution);
  if (self_loops) std::replace(self_.begin(), self_.end(), 0.0, 1.0);
}

/// Sorts the receivers of each node, checks them, and takes self-loops out of the rows.
void SparseGraph::sort_rows(const std::string& where, const Execution& execution) {
  const std::int64_t n = nodes();
  constexpr std::int64_t kRows = 4096;
  parallel_for(at((n + kRows - 1) / kRows), execution.threads, [&](std::size_t block, int) {
    execution.check();
    std::vector<std::pair<std::int32_t, double>> row;
    const std::int64_t begin = static_cast<std::int64_t>(block) * kRows;
    for (std::int64_t j = begin; j < std::min(n, begin + kRows); ++j) {
      std::int32_t* to = receivers_.data() + first_[at(j)];
      const auto count = at(first_[at(j) + 1] - first_[at(j)]);
      if (weighted()) {
        double* weight = weights_.data() + first_[at(j)];
        row.clear();
        for (std::size_t k = 0; k < count; ++k) row.emplace_back(to[k], weight[k]);
        std::sort(row.begin(), row.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t k = 0; k < count; ++k) {
          std::tie(to[k], weight[k]) = row[k];
          if (!(weight[k] > 0.0 && std::isfinite(weight[k])))
            throw InputError(
                fmt::format("{}edge {} -> {} has weight {}; weights must be positive and finite",
                            where, j, to[k], weight[k]));
        }
      } else {
        std::sort(to, to + count);
      }
      if (count == 0) continue;
      if (to[0] < j)
        throw InputError(fmt::format(
            "{}edge {} -> {} goes backward; every edge must go to a later node", where, j, to[0]));
      if (to[count - 1] >= n)
        throw InputError(fmt::format("{}edge {} -> {} leaves the graph, which has nodes 0 to {}",
                                     where, j, to[count - 1], n - 1));
      if (const auto* twice = std::adjacent_find(to, to + count); twice != to + count)
        throw InputError(fmt::format("{}edge {} -> {} is there twice", where, j, *twice));
    }
  });
  // Self-loops are the first of their rows. Rows move down in place.
  std::int64_t end = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t begin = first_[at(j)];
    const std::int64_t stop = first_[at(j) + 1];
    if (begin < stop && receivers_[at(begin)] == j) {
      self_[at(j)] = weighted() ? weights_[at(begin)] : 1.0;
      ++begin;
    }
    first_[at(j)] = end;
    if (begin != end) {
      std::copy(receivers_.begin() + begin, receivers_.begin() + stop, receivers_.begin() + end);
      if (weighted())
        std::copy(weights_.begin() + begin, weights_.begin() + stop, weights_.begin() + end);
    }
    end += stop - begin;
  }
  first_.back() = end;
  receivers_.resize(at(end));
  if (weighted()) weights_.resize(at(end));
}

SparseGraph::SparseGraph(const FeedforwardGraph& graph) {
  const auto n = static_cast<std::size_t>(graph.nodes());
  first_.assign(n + 1, 0);
  self_.assign(n, 0.0);
  const std::vector<Edge>& edges = graph.edges();
  const bool weights = std::any_of(edges.begin(), edges.end(), [](const Edge& edge) {
    return edge.weight != 1.0 && edge.from != edge.to;
  });
  for (const Edge& edge : edges) {  // sorted by (from, to)
    if (edge.from == edge.to) {
      self_[static_cast<std::size_t>(edge.from)] = edge.weight;
      continue;
    }
    ++first_[static_cast<std::size_t>(edge.from) + 1];
    receivers_.push_back(edge.to);
    if (weights) weights_.push_back(edge.weight);
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

std::int64_t SparseGraph::edge_count() const {
  return first_.back() + static_cast<std::int64_t>(std::count_if(
                             self_.begin(), self_.end(), [](double weight) { return weight > 0; }));
}

SparseGraph SparseGraph::reversed() const {
  const std::int64_t n = nodes();
  SparseGraph result;
  result.first_.assign(at(n) + 1, 0);
  result.self_.assign(self_.rbegin(), self_.rend());
  result.receivers_.resize(receivers_.size());
  result.weights_.resize(weights_.size());
  for (const std::int32_t i : receivers_) ++result.first_[at(n - 1 - i) + 1];
  std::partial_sum(result.first_.begin(), result.first_.end(), result.first_.begin());
  std::vector<std::int64_t> place(result.first_.begin(), result.first_.end() - 1);
  // Senders from the last to the first: the rows come out in increasing order.
  for (std::int64_t j = n - 1; j >= 0; --j) {
    for (std::int64_t e = first_[at(j)]; e < first_[at(j) + 1]; ++e) {
      const std::int64_t to = place[at(n - 1 - receivers_[at(e)])]++;
      result.receivers_[at(to)] = static_cast<std::int32_t>(n - 1 - j);
      if (weighted()) result.weights_[at(to)] = weights_[at(e)];
    }
  }
  return result;
}

FeedforwardGraph SparseGraph::dense() const {
  check_node_count(nodes());
  std::vector<Edge> edges;
  for (int j = 0; j < nodes(); ++j) {
    if (self_loop(j) > 0.0) edges.push_back({j, j, self_loop(j)});
    const auto to = receivers(j);
    const auto weight = weights(j);
    for (std::size_t k = 0; k < to.size(); ++k)
      edges.push_back({j, to[k], weight.empty() ? 1.0 : weight[k]});
  }
  return {nodes(), std::move(edges), false};
}

}  // namespace synergraph
