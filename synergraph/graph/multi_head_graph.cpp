#include "synergraph/graph/multi_head_graph.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

int node_count(const GraphHead& head) {
  if (const auto* graph = std::get_if<FeedforwardGraph>(&head.content)) return graph->nodes();
  return std::get<Matrix>(head.content).rows();
}

}  // namespace

MultiHeadGraph multi_head_graph(std::vector<GraphHead> heads) {
  if (heads.empty()) throw InputError("a multi-head graph needs at least one head");
  MultiHeadGraph result;
  result.nodes = node_count(heads.front());
  for (const GraphHead& head : heads)
    if (node_count(head) != result.nodes)
      throw InputError(fmt::format("head {} has {} nodes, head {} has {}; all heads share them",
                                   quoted_text(heads.front().name), result.nodes,
                                   quoted_text(head.name), node_count(head)));
  for (int j = 0; j < result.nodes; ++j) result.node_names.push_back(std::to_string(j));
  result.heads = std::move(heads);
  return result;
}

MultiHeadGraph worked_example(int number) {
  if (number == 1) {
    auto example = multi_head_graph({{"Head 1", 1.0, FeedforwardGraph(3, {{0, 1}})},
                                     {"Head 2", 1.0, FeedforwardGraph(3, {{1, 2}})}});
    example.node_names = {"u", "v", "tau"};
    return example;
  }
  if (number == 2) {
    auto example =
        multi_head_graph({{"Head 1", 1.0, FeedforwardGraph(4, {{0, 1}, {1, 2}, {2, 3}})},
                          {"Head 2", 1.0, FeedforwardGraph(4, {{0, 2}, {1, 2}, {1, 3}, {2, 3}})}});
    example.node_names = {"u", "v", "w", "tau"};
    return example;
  }
  throw UsageError(fmt::format("there are worked examples 1 and 2, not {}", number));
}

}  // namespace synergraph
