#include <fmt/core.h>

#include <set>
#include <string_view>
#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/graph_source.h"
#include "synergraph/analysis/system_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/generators.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/heads/measure.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/report/json_text.h"

/// Heads on the same nodes.
struct sg_graph {
  synergraph::MultiHeadGraph graph;

  /// Adds a head of so many nodes.
  void add(const char* name, double weight, int nodes,
           std::variant<synergraph::FeedforwardGraph, synergraph::Matrix> content);
  /// InputError without a head.
  const synergraph::MultiHeadGraph& complete() const;
};

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

namespace {

nlohmann::ordered_json json_head(const GraphHead& head) {
  nlohmann::ordered_json edges = nlohmann::ordered_json::array();
  const auto add = [&](int from, int to, double weight) {
    edges.push_back({{"from", from}, {"to", to}, {"weight", weight}});
  };
  const auto* graph = std::get_if<FeedforwardGraph>(&head.content);
  if (graph != nullptr) {
    for (const Edge& edge : graph->edges()) add(edge.from, edge.to, edge.weight);
  } else {
    const auto& matrix = std::get<Matrix>(head.content);
    for (int i = 0; i < matrix.rows(); ++i)
      for (int j = 0; j <= i; ++j)
        if (matrix(i, j) > 0.0) add(j, i, matrix(i, j));
  }
  return {{"name", head.name},
          {"weight", head.weight},
          {"kind", graph != nullptr ? "graph" : "matrix"},
          {"edges", std::move(edges)}};
}

}  // namespace

void sg_graph::add(const char* name, double weight, int nodes,
                   std::variant<FeedforwardGraph, Matrix> content) {
  if (!(weight >= 0.0 && weight <= std::numeric_limits<double>::max()))
    throw InputError(fmt::format("weight {} is not a positive number or zero", weight));
  if (!graph.heads.empty() && nodes != graph.nodes)
    throw InputError(fmt::format("a head of {} nodes, the others have {}", nodes, graph.nodes));
  GraphHead head{name != nullptr ? name : fmt::format("head {}", graph.heads.size() + 1), weight,
                 std::move(content)};
  std::vector<std::string> names;
  for (int node = 0; graph.heads.empty() && node < nodes; ++node)
    names.push_back(fmt::format("{}", node));
  graph.heads.push_back(std::move(head));
  if (graph.heads.size() > 1) return;
  graph.nodes = nodes;
  graph.node_names = std::move(names);
}

const MultiHeadGraph& sg_graph::complete() const {
  if (graph.heads.empty()) throw InputError("the graph has no head");
  return graph;
}

int sg_graph_create(sg_graph** graph) {
  return making(graph, [] { return new sg_graph(); });
}

int sg_graph_parse(const char* text, size_t length, const char* source, sg_graph** graph) {
  return making(graph, [&] {
    if (length > 0) require(text, "text");
    return new sg_graph{parse_graph_text({text, length}, source != nullptr ? source : "graph")};
  });
}

int sg_graph_example(int number, sg_graph** graph) {
  return making(graph, [&] { return new sg_graph{worked_example(number)}; });
}

int sg_graph_add_edges(sg_graph* graph, const char* name, double weight, int64_t nodes,
                       const int64_t* from, const int64_t* to, const double* strengths,
                       size_t count, int self_loops) {
  return guarded([&] {
    require(graph, "graph");
    check_node_count(nodes);
    if (count > 0) {
      require(from, "from");
      require(to, "to");
    }
    if (count > static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes))
      throw InputError(
          fmt::format("{} edges of {} nodes, which have at most {}", count, nodes, nodes * nodes));
    std::vector<Edge> edges;
    for (std::size_t k = 0; k < count; ++k) {
      for (const std::int64_t node : {from[k], to[k]})
        if (node < 0 || node >= nodes)
          throw InputError(
              fmt::format("edge {} -> {}: expected nodes 0 to {}", from[k], to[k], nodes - 1));
      edges.push_back({static_cast<int>(from[k]), static_cast<int>(to[k]),
                       strengths != nullptr ? strengths[k] : 1.0});
    }
    const auto size = static_cast<int>(nodes);
    graph->add(name, weight, size, FeedforwardGraph(size, std::move(edges), self_loops != 0));
  });
}

int sg_graph_add_generated(sg_graph* graph, const char* name, double weight, const char* generator,
                           int self_loops) {
  return guarded([&] {
    require(graph, "graph");
    require(generator, "generator");
    FeedforwardGraph made = generate_graph(generator, self_loops != 0);
    const int nodes = made.nodes();
    graph->add(name != nullptr ? name : generator, weight, nodes, std::move(made));
  });
}

int sg_graph_add_matrix(sg_graph* graph, const char* name, double weight, const void* data,
                        int dtype, int64_t nodes, const int64_t strides[2]) {
  return guarded([&] {
    require(graph, "graph");
    const int64_t shape[4] = {1, 1, nodes, nodes};
    AttentionView view = view_of(data, dtype, shape, nullptr);
    if (strides != nullptr) view.strides = {0, 0, strides[0], strides[1]};
    check_view(view);
    Matrix matrix(static_cast<int>(nodes), static_cast<int>(nodes));
    try {
      head_reader(view, {0, 0, nodes}, {})(0, matrix);
    } catch (const InputError& error) {
      throw InputError(fmt::format("matrix: {}", error.what()));
    }
    graph->add(name, weight, static_cast<int>(nodes), std::move(matrix));
  });
}

int sg_graph_name_nodes(sg_graph* graph, const char* const* names, size_t count) {
  return guarded([&] {
    require(graph, "graph");
    require(names, "names");
    if (count != static_cast<std::size_t>(graph->complete().nodes))
      throw InputError(fmt::format("{} names for {} nodes", count, graph->graph.nodes));
    std::vector<std::string> given;
    std::set<std::string_view> seen;
    for (std::size_t k = 0; k < count; ++k) {
      require(names[k], "a name");
      if (*names[k] == '\0') throw InputError(fmt::format("the name of node {} is empty", k));
      if (!seen.insert(names[k]).second)
        throw InputError(fmt::format("two nodes are named {}", quoted_text(names[k])));
      given.emplace_back(names[k]);
    }
    graph->graph.node_names = std::move(given);
  });
}

int sg_graph_size(const sg_graph* graph, int64_t* heads, int64_t* nodes) {
  return guarded([&] {
    require(graph, "graph");
    if (heads != nullptr) *heads = static_cast<std::int64_t>(graph->graph.heads.size());
    if (nodes != nullptr) *nodes = graph->graph.nodes;
  });
}

int sg_graph_text(const sg_graph* graph, char** text) {
  return making(text, [&] {
    require(graph, "graph");
    return copied_text(format_graph_text(graph->complete()));
  });
}

int sg_graph_json(const sg_graph* graph, char** text) {
  return making(text, [&] {
    require(graph, "graph");
    nlohmann::ordered_json heads = nlohmann::ordered_json::array();
    for (const GraphHead& head : graph->complete().heads) heads.push_back(json_head(head));
    return copied_text(
        json_text({{"nodes", graph->graph.node_names}, {"heads", std::move(heads)}}));
  });
}

int sg_graph_dot(const sg_graph* graph, char** text) {
  return making(text, [&] {
    require(graph, "graph");
    return copied_text(format_dot(graph->complete()));
  });
}

int sg_graph_measure(const sg_graph* graph, const char* options, const sg_call* call,
                     sg_result** result) {
  return making(result, [&] {
    require(graph, "graph");
    (void)graph->complete();
    const auto settings = take_settings<HeadsOnNodesSettings>(options);
    const MetricsSettings& metrics = settings.metrics;
    std::vector<double> raw = settings.weights;
    if (raw.empty())
      for (const GraphHead& head : graph->complete().heads) raw.push_back(head.weight);
    GraphReport report;
    report.node_names = graph->graph.node_names;
    report.options = metrics.resolve(metrics.convention.names.front(), graph_options);
    report.options.fidelity.every_node = true;
    report.options.backward = settings.backward;
    report.weights = normalised_weights(raw, graph->graph.heads.size());
    for (const GraphHead& head : graph->graph.heads) report.head_names.push_back(head.name);
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      const std::vector<Head> heads =
          heads_of_graph(graph->graph, execution.memory.bytes(), ", or give the call more memory");
      report.metrics = measure_heads(heads, report.weights, report.options, execution);
    });
    return new sg_result(std::move(report));
  });
}

int sg_graph_attention(const sg_graph* graph, sg_attention** attention) {
  return making(attention, [&] {
    require(graph, "graph");
    auto source = std::make_unique<GraphSource>(graph->complete());
    auto made = std::make_unique<sg_attention>();
    for (const GraphHead& head : graph->graph.heads) made->head_names.push_back(head.name);
    made->token_names = graph->graph.node_names;
    made->weights = {source->weights()};
    made->weights_from = "graph";
    made->source = std::move(source);
    return made.release();
  });
}

void sg_graph_free(sg_graph* graph) {
  delete graph;
}
