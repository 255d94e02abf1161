#include "synergraph/graph/feedforward_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph {

void check_node_count(long long nodes) {
  if (nodes < 1 || nodes > kMaxNodes)
    throw InputError(fmt::format("a graph has between 1 and {} nodes, not {}", kMaxNodes, nodes));
}

void check_edge(const Edge& edge, int nodes, std::string_view from, std::string_view to) {
  const auto fail = [&](const std::string& what) {
    const auto name = [](std::string_view text, int node) {
      constexpr std::size_t kLongest = 40;
      return text.empty() ? std::to_string(node) : cut_middle(printable(text), kLongest);
    };
    const std::string shown = fmt::format("{} -> {}", name(from, edge.from), name(to, edge.to));
    throw InputError(fmt::format("edge {}{}", shown, what));
  };
  for (const int node : {edge.from, edge.to})
    if (node < 0 || node >= nodes)
      fail(fmt::format(": node {} is out of range, nodes are 0 to {}", node, nodes - 1));
  if (edge.from > edge.to)
    fail(" goes backward; in a feedforward graph no edge leads to an earlier node");
  if (!std::isfinite(edge.weight) || edge.weight <= 0.0)
    fail(fmt::format(": weight {} is not positive and finite", edge.weight));
}

FeedforwardGraph::FeedforwardGraph(int nodes, std::vector<Edge> edges, bool self_loops)
    : nodes_(nodes), edges_(std::move(edges)) {
  check_node_count(nodes);
  std::vector<bool> has_loop(static_cast<std::size_t>(nodes), false);
  for (const Edge& edge : edges_) {
    check_edge(edge, nodes);
    if (edge.from == edge.to) has_loop[static_cast<std::size_t>(edge.from)] = true;
  }
  if (self_loops)
    for (int j = 0; j < nodes; ++j)
      if (!has_loop[static_cast<std::size_t>(j)]) edges_.push_back({j, j});
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  const auto twice = std::adjacent_find(
      edges_.begin(), edges_.end(),
      [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; });
  if (twice != edges_.end())
    throw InputError(fmt::format("edge {} -> {} is given twice", twice->from, twice->to));
}

}  // namespace synergraph
