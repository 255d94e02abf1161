#include "synergraph/graph/generators.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/random.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/families.h"

namespace synergraph {
namespace {

/// The graph of all edges j -> i, i > j, for which present(j, i) holds.
template <class Present>
FeedforwardGraph graph_where(int nodes, bool self_loops, Present present) {
  check_node_count(nodes);
  std::vector<Edge> edges;
  for (int j = 0; j < nodes; ++j)
    for (int i = j + 1; i < nodes; ++i)
      if (present(j, i)) edges.push_back({j, i});
  return {nodes, std::move(edges), self_loops};
}

}  // namespace

FeedforwardGraph chain_graph(int nodes, bool self_loops) {
  return window_graph(nodes, 1, self_loops);
}

FeedforwardGraph complete_graph(int nodes, bool self_loops) {
  return graph_where(nodes, self_loops, [](int, int) { return true; });
}

FeedforwardGraph window_graph(int nodes, int width, bool self_loops) {
  if (width < 1) throw InputError(fmt::format("a window is at least 1 wide, not {}", width));
  check_node_count(nodes);
  std::vector<Edge> edges;
  for (int j = 0; j < nodes; ++j)
    for (int step = 1; step <= std::min(width, nodes - 1 - j); ++step)
      edges.push_back({j, j + step});
  return {nodes, std::move(edges), self_loops};
}

FeedforwardGraph powers_graph(int nodes, bool self_loops) {
  check_node_count(nodes);
  std::vector<Edge> edges;
  for (int j = 0; j < nodes; ++j)
    for (int step = 1; j + step < nodes; step *= 2) edges.push_back({j, j + step});
  return {nodes, std::move(edges), self_loops};
}

FeedforwardGraph star_graph(int nodes, bool self_loops) {
  check_node_count(nodes);
  std::vector<Edge> edges;
  for (int j = 0; j + 1 < nodes; ++j) edges.push_back({j, nodes - 1});
  return {nodes, std::move(edges), self_loops};
}

FeedforwardGraph random_graph(int nodes, double probability, std::uint64_t seed, bool self_loops) {
  if (!(probability >= 0.0 && probability <= 1.0))
    throw InputError(fmt::format("an edge probability is in [0, 1], not {}", probability));
  return graph_where(nodes, self_loops, [&](int j, int i) {
    return RandomStream(seed, Purpose::kGraph, static_cast<std::uint32_t>(j))
               .uniforms(static_cast<std::uint64_t>(i))[0] < probability;
  });
}

FeedforwardGraph generate_graph(std::string_view description, bool self_loops) {
  const std::vector<std::string_view> parts = split(description, ':');
  const std::string kind(parts[0]);
  const auto takes = [&](std::size_t least, std::size_t most, const char* form) {
    if (parts.size() < least || parts.size() > most)
      throw UsageError(fmt::format("generator {}: expected {}", quoted_text(description), form));
  };
  const auto integer = [&](std::size_t index) {
    long long value = 0;
    if (!parse_number(parts[index], value))
      throw UsageError(fmt::format("generator {}: {} is not a whole number",
                                   quoted_text(description), quoted_text(parts[index])));
    return value;
  };
  const auto nodes = [&] {
    check_node_count(integer(1));
    return static_cast<int>(integer(1));
  };
  if (kind == "chain") return takes(2, 2, "chain:N"), chain_graph(nodes(), self_loops);
  if (kind == "complete") return takes(2, 2, "complete:N"), complete_graph(nodes(), self_loops);
  if (kind == "powers") return takes(2, 2, "powers:N"), powers_graph(nodes(), self_loops);
  if (kind == "star") return takes(2, 2, "star:N"), star_graph(nodes(), self_loops);
  if (kind == "window") {
    takes(3, 3, "window:N:WIDTH");
    const auto width = static_cast<int>(std::clamp<long long>(integer(2), 0, kMaxNodes));
    return window_graph(nodes(), width, self_loops);
  }
  if (kind == "random") {
    takes(3, 4, "random:N:PROBABILITY[:SEED]");
    double probability = 0.0;
    if (!parse_number(parts[2], probability))
      throw UsageError(fmt::format("generator {}: {} is not a number", quoted_text(description),
                                   quoted_text(parts[2])));
    std::uint64_t seed = 1;
    if (parts.size() == 4 && !parse_number(parts[3], seed))
      throw UsageError(fmt::format("generator {}: {} is not a seed (0 to 2^64 - 1)",
                                   quoted_text(description), quoted_text(parts[3])));
    return random_graph(nodes(), probability, seed, self_loops);
  }
  if (is_family(description)) {
    if (parts.size() > 1) nodes();  // a graph that is too large fails before it is made
    FeedforwardGraph graph = generate_family(description).dense();
    if (self_loops) return graph;
    std::vector<Edge> edges;
    for (const Edge& edge : graph.edges())
      if (edge.from != edge.to) edges.push_back(edge);
    return {graph.nodes(), std::move(edges), false};
  }
  throw UsageError(fmt::format(
      "unknown generator {}; there are chain, complete, window, powers, star, random, and the "
      "families of docs/graphs.md such as fs",
      quoted_text(kind)));
}

}  // namespace synergraph
