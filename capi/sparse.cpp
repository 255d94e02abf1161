#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/family_study.h"
#include "synergraph/core/error.h"
#include "synergraph/report/families_report.h"

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

namespace {

/// The compressed rows of a graph with its self-loops, which a SparseGraph keeps apart.
SystemArrays rows_of(const SparseGraph& graph) {
  NamedArray first{"first", "node", {graph.nodes() + std::int64_t{1}}, {}, {0}};
  NamedArray receivers{"receivers", "edge", {graph.edge_count()}, {}, {}};
  first.counts.reserve(static_cast<std::size_t>(graph.nodes()) + 1);
  receivers.counts.reserve(static_cast<std::size_t>(graph.edge_count()));
  for (int j = 0; j < graph.nodes(); ++j) {
    if (graph.self_loop(j) > 0.0) receivers.counts.push_back(j);
    const auto row = graph.receivers(j);
    receivers.counts.insert(receivers.counts.end(), row.begin(), row.end());
    first.counts.push_back(static_cast<std::int64_t>(receivers.counts.size()));
  }
  SystemArrays arrays;
  arrays.arrays = {std::move(first), std::move(receivers)};
  return arrays;
}

/// Copies rows of a caller. A last offset that does not fit the memory is refused before it is
/// used.
SparseGraph graph_of_rows(std::int64_t nodes, const std::int64_t* first,
                          const std::int32_t* receivers, const double* weights,
                          const Execution& execution) {
  require(first, "first");
  if (nodes < 1 || nodes > kMaxSparseNodes)
    throw InputError(
        fmt::format("a sparse graph has 1 to {} nodes, not {}", kMaxSparseNodes, nodes));
  const std::int64_t edges = first[nodes];
  if (edges < 0 || edges > kMaxSparseEdges)
    throw InputError(fmt::format("{} edges; a sparse graph has 0 to {}", edges, kMaxSparseEdges));
  if (edges > 0) require(receivers, "receivers");
  ScratchVector<std::int32_t> to(receivers, receivers + edges);
  ScratchVector<double> strengths;
  if (weights != nullptr) strengths.assign(weights, weights + edges);
  return {std::vector<std::int64_t>(first, first + nodes + 1),
          std::move(to),
          std::move(strengths),
          false,
          "",
          execution};
}

SystemArrays numbers_of(const FamilyGraph& measured) {
  SystemArrays result;
  const auto add = [&](const char* key, double value) {
    result.arrays.push_back({key, "", {}, {value}, {}});
  };
  for (const FamilyColumn& column : family_columns()) add(column.key, measured.*column.value);
  result.arrays.push_back({"edges", "", {}, {}, {measured.edges}});
  result.arrays.push_back({"exact", "", {}, {}, {measured.exact ? 1 : 0}});
  return result;
}

}  // namespace

int sg_family(const char* family, int64_t nodes, uint64_t seed, const sg_call* call,
              sg_result** result) {
  return making(result, [&] {
    require(family, "family");
    SystemArrays rows;
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      rows = rows_of(family_graph(family, nodes, seed, execution));
    });
    return new sg_result(std::move(rows));
  });
}

int sg_sparse_measure(int64_t nodes, const int64_t* first, const int32_t* receivers,
                      const double* weights, double eps, int64_t step_limit, const sg_call* call,
                      sg_result** result) {
  return making(result, [&] {
    if (!kThresholdRange.contains(eps))
      throw UsageError(fmt::format("eps: {} is not {}", eps, described(kThresholdRange)));
    if (step_limit < 1)
      throw UsageError(fmt::format("step_limit: {} is not at least 1", step_limit));
    SparseMetricsOptions options;
    options.eps = eps;
    options.step_limit = step_limit;
    SystemArrays numbers;
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      const SparseGraph graph = graph_of_rows(nodes, first, receivers, weights, execution);
      numbers = numbers_of(measure_family_graph(graph, options, execution));
    });
    return new sg_result(std::move(numbers));
  });
}

int sg_families(const char* options, const sg_call* call, sg_result** result) {
  return making(result, [&] {
    const auto settings = take_settings<FamilySettings>(options);
    SystemArrays answer;
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      const std::vector<FamilyGraph> graphs = measure_families(settings, execution);
      const auto count = static_cast<std::int64_t>(graphs.size());
      const auto add = [&](const char* name, const auto& value) {
        NamedArray array{name, "graph", {count}, {}, {}};
        for (const FamilyGraph& graph : graphs) {
          if constexpr (std::is_floating_point_v<decltype(value(graph))>)
            array.numbers.push_back(value(graph));
          else
            array.counts.push_back(static_cast<std::int64_t>(value(graph)));
        }
        answer.arrays.push_back(std::move(array));
      };
      add("nodes", [](const FamilyGraph& graph) { return graph.nodes; });
      add("seed", [](const FamilyGraph& graph) { return graph.seed; });
      add("edges", [](const FamilyGraph& graph) { return graph.edges; });
      for (const FamilyColumn& column : family_columns())
        add(column.key, [&](const FamilyGraph& graph) { return graph.*column.value; });
      add("exact", [](const FamilyGraph& graph) { return graph.exact ? 1 : 0; });
      answer.document = json_report(settings, graphs);
      answer.shown = families_table(graphs);
      answer.rows = csv_table(graphs);
    });
    return new sg_result(std::move(answer));
  });
}
