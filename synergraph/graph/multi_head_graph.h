#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One head: a graph, or an attention matrix (rows sum to one), with its raw weight.
struct GraphHead {
  std::string name;
  double weight = 1.0;
  std::variant<FeedforwardGraph, Matrix> content;
};

/// Several heads over the same nodes.
struct MultiHeadGraph {
  int nodes = 0;
  std::vector<std::string> node_names;  ///< one a node
  std::vector<GraphHead> heads;
};

/// The paper's worked examples, 1 (nodes u, v, tau) and 2 (u, v, w, tau). UsageError for others.
MultiHeadGraph worked_example(int number);

/// A multi-head graph from heads of equal size, nodes named by their numbers. InputError if the
/// sizes differ or there is no head.
MultiHeadGraph multi_head_graph(std::vector<GraphHead> heads);

/// Reads the text format of docs/formats.md. `source` names the text in errors ("file:line: ...").
MultiHeadGraph parse_graph_text(std::string_view text, const std::string& source);

/// Writes the text format; parse_graph_text gives the same graph back.
std::string format_graph_text(const MultiHeadGraph& graph);

/// The graph in Graphviz's DOT language: one cluster a head, self-loops left out.
std::string format_dot(const MultiHeadGraph& graph);

}  // namespace synergraph
#pragma GCC visibility pop
