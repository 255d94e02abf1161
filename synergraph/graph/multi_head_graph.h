#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One head with its raw weight. The content is a graph, or an attention matrix whose rows sum to
/// one.
struct GraphHead {
  std::string name;
  double weight = 1.0;
  std::variant<FeedforwardGraph, Matrix> content;
};

/// Several heads over the same nodes.
struct MultiHeadGraph {
  int nodes = 0;
  std::vector<std::string> node_names;  ///< one name per node
  std::vector<GraphHead> heads;
};

/// Returns worked example 1 (nodes u, v, tau) or 2 (nodes u, v, w, tau) of the paper. UsageError
/// for other numbers.
MultiHeadGraph worked_example(int number);

/// Makes a multi-head graph from heads of equal size. Node names are the node numbers. InputError
/// if the sizes differ or there is no head.
MultiHeadGraph multi_head_graph(std::vector<GraphHead> heads);

/// Reads the text format of docs/formats.md. `source` names the text in errors ("file:line: ...").
MultiHeadGraph parse_graph_text(std::string_view text, const std::string& source);

/// Writes the text format. parse_graph_text() reads the same graph back.
std::string format_graph_text(const MultiHeadGraph& graph);

/// Writes the graph in Graphviz's DOT language with one cluster per head and without self-loops.
std::string format_dot(const MultiHeadGraph& graph);

}  // namespace synergraph
#pragma GCC visibility pop
