#include "capi/status.h"
#include "door/door.h"
#include "door/json.h"
#include "synergraph/graph/multi_head_graph.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT
using synergraph::door::json;
using synergraph::door::json_list;

namespace {

std::string json_edge(int from, int to, double weight) {
  return fmt::format(R"({{"from":{},"to":{},"weight":{}}})", from, to, weight);
}

std::string json_head(const GraphHead& head) {
  std::vector<std::string> edges;
  const auto* graph = std::get_if<FeedforwardGraph>(&head.content);
  if (graph != nullptr) {
    for (const Edge& edge : graph->edges())
      edges.push_back(json_edge(edge.from, edge.to, edge.weight));
  } else {
    const auto& matrix = std::get<Matrix>(head.content);
    for (int i = 0; i < matrix.rows(); ++i)
      for (int j = 0; j <= i; ++j)
        if (matrix(i, j) > 0.0) edges.push_back(json_edge(j, i, matrix(i, j)));
  }
  return fmt::format(R"({{"name":{},"weight":{},"kind":"{}","edges":[{}]}})", json(head.name),
                     head.weight, graph != nullptr ? "graph" : "matrix", fmt::join(edges, ","));
}

}  // namespace

int door_graph(const char* graph, const char* source, char** text) {
  return making(text, [&] {
    require(graph, "graph");
    require(source, "source");
    const MultiHeadGraph read = parse_graph_text(graph, source);
    return copied_text(fmt::format(R"({{"text":{},"nodes":{},"heads":{}}})",
                                   json(format_graph_text(read)), json(read.node_names),
                                   json_list(read.heads, json_head)));
  });
}
