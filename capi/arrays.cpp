#include "capi/arrays.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/report/json_text.h"

namespace synergraph::capi {
namespace {

const HeadsMetrics kNoSystem;

/// Adds a number, or what stands for one that is not there.
template <class Value>
void put(NamedArray& array, bool there, Value value) {
  if constexpr (std::is_same_v<Value, double>)
    array.numbers.push_back(there ? value : std::numeric_limits<double>::quiet_NaN());
  else
    array.counts.push_back(there ? std::int64_t{value} : -1);
}

/// Measured systems on a grid, not all of whose places are taken.
struct Systems {
  std::vector<const HeadsMetrics*> at;  ///< NULL: none here
  std::string axes;                     ///< of the grid
  std::vector<std::int64_t> shape;
  std::size_t heads = 0;  ///< of the system that has most
  std::size_t nodes = 0;  ///< likewise; 0: numbers of nodes were not kept
  const char* node_axis = "token";
  bool head_walks = true;  ///< each head's walk was measured

  NamedArray named(std::string name) const {
    NamedArray array{std::move(name), axes, shape, {}, {}};
    array.numbers.reserve(at.size());
    return array;
  }

  static void add_axis(NamedArray& array, const char* axis, std::size_t extent) {
    array.axes += (array.axes.empty() ? "" : " ") + std::string(axis);
    array.shape.push_back(static_cast<std::int64_t>(extent));
  }

  /// of(system), for every system.
  template <class Of>
  NamedArray of_systems(std::string name, const Of& of) const {
    NamedArray array = named(std::move(name));
    for (const HeadsMetrics* system : at)
      put(array, system != nullptr, of(system ? *system : kNoSystem));
    return array;
  }

  /// visit(metrics or NULL) for every system, or for every head of every system.
  template <class Visit>
  void visit(bool each_head, const Visit& visit_one) const {
    for (const HeadsMetrics* system : at) {
      if (!each_head) visit_one(system ? &system->combined : nullptr);
      for (std::size_t h = 0; each_head && h < heads; ++h)
        visit_one(system && h < system->heads.size() ? &system->heads[h] : nullptr);
    }
  }

  /// of(metrics) of every head of every system.
  template <class Of>
  NamedArray of_heads(const std::string& name, const Of& of) const {
    NamedArray array = named("heads/" + name);
    add_axis(array, "head", heads);
    visit(true, [&](const Metrics* one) {
      put(array, one != nullptr, of(one ? *one : kNoSystem.combined));
    });
    return array;
  }

  NamedArray of_nodes(const QuantityRow& row, bool each_head) const {
    NamedArray array = named((each_head ? "heads/" : "") + std::string(row.key));
    if (each_head) add_axis(array, "head", heads);
    add_axis(array, node_axis, nodes);
    visit(each_head, [&](const Metrics* one) {
      for (std::size_t j = 0; j < nodes; ++j) {
        const bool there = one != nullptr && j < row.of_nodes(*one).size();
        put(array, there, there ? row.of_nodes(*one)[j] : 0.0);
      }
    });
    return array;
  }
};

/// Whether its arrays have whole numbers.
bool is_whole(const QuantityRow& row) {
  return row.unit == Unit::kHead || row.unit == Unit::kNode || row.unit == Unit::kFlag;
}

/// visit(of) with the function that takes the row's number, whole or not, from what was measured.
template <class From, class Visit>
void with_number(const QuantityRow& row, double (*number)(const From&), const Visit& visit) {
  if (is_whole(row))
    visit([number](const From& from) { return static_cast<int>(number(from)); });
  else
    visit(number);
}

/// Makes an array.
using Make = std::function<NamedArray()>;

/// The arrays of all systems, and then of all heads, in the order of their quantities.
std::vector<Make> makers_of(const Systems& systems, const MetricsOptions& options) {
  const std::vector<double>& eps = options.walk.eps;
  std::vector<Make> makers;
  const auto measured = [&](const QuantityRow& row) { return systems.head_walks || !row.of_walk; };
  const std::vector<Quantity> quantities = layer_quantities(eps, options.backward);
  for (const Quantity& quantity : quantities)
    if (quantity.of_system() || measured(quantity.row()))
      makers.push_back([&systems, &eps, quantity] {
        return systems.of_systems(
            key_of(quantity), [&](const HeadsMetrics& s) { return value_of(quantity, s, eps); });
      });
  for (const QuantityRow& row : kQuantityRows) {
    const auto add = [&](const auto& of) {
      makers.push_back([&, of] { return systems.of_systems(std::string(row.key), of); });
    };
    if (row.summarised) continue;
    if (row.of_layer != nullptr) with_number(row, row.of_layer, add);
    if (row.of_system != nullptr)
      with_number(row, row.of_system, [&](const auto& of) {
        add([of](const HeadsMetrics& s) { return of(s.combined); });
      });
  }
  for (const Quantity& quantity : quantities)
    if (quantity.of_system() && measured(quantity.row()))
      makers.push_back([&systems, &eps, quantity] {
        return systems.of_heads(key_of(quantity),
                                [&](const Metrics& m) { return value_of(quantity, m, eps); });
      });
  for (const QuantityRow& row : kQuantityRows)
    if (!row.summarised && row.of_system != nullptr && measured(row))
      with_number(row, row.of_system, [&](const auto& of) {
        makers.push_back(
            [&systems, &row, of] { return systems.of_heads(std::string(row.key), of); });
      });
  for (const bool each_head : {false, true})
    for (const QuantityRow& row : kQuantityRows)
      if (row.of_nodes != nullptr && systems.nodes > 0 && (!each_head || measured(row)))
        makers.push_back([&systems, &row, each_head] { return systems.of_nodes(row, each_head); });
  return makers;
}

/// All of them, side by side where there are many numbers.
void add_arrays(const Systems& systems, const MetricsOptions& options,
                std::vector<NamedArray>& arrays) {
  constexpr std::size_t kManySystems = 1000;
  const std::vector<Make> makers = makers_of(systems, options);
  const std::size_t first = arrays.size();
  arrays.resize(first + makers.size());
  const int threads = systems.at.size() * (1 + systems.heads) < kManySystems ? 1 : 0;
  parallel_for(makers.size(), threads,
               [&](std::size_t k, int) { arrays[first + k] = makers[k](); });
}

}  // namespace

sg_array NamedArray::view() const {
  const bool whole = !counts.empty();
  return {name.c_str(),
          axes.c_str(),
          whole ? SG_INT64 : SG_FLOAT64,
          static_cast<std::int32_t>(shape.size()),
          shape.data(),
          whole ? static_cast<const void*>(counts.data()) : numbers.data()};
}

std::string json_report(const SystemArrays& system) {
  if (!system.document.empty()) return system.document;
  return json_text({{"heads", system.head_names}, {"nodes", system.node_names}});
}

std::string format_report(const SystemArrays& system, std::size_t columns) {
  if (!system.shown.header.empty()) return format_text(system.shown, columns);
  if (!system.table.empty()) return system.table;
  throw UsageError("curves and matrices have no table: use their arrays");
}

Table csv_table(const SystemArrays& system) {
  if (!system.rows.header.empty()) return system.rows;
  throw UsageError("curves and matrices have no CSV: use their arrays");
}

std::vector<NamedArray> arrays_of(const AnalyzeReport& report) {
  const Analysis& analysis = report.analysis;
  Systems systems;
  std::size_t samples = 0;
  for (const AttentionLayer& layer : analysis.layers) {
    samples = std::max(samples, static_cast<std::size_t>(layer.samples));
    systems.heads = std::max(systems.heads, static_cast<std::size_t>(layer.heads));
  }
  for (const auto& layers : analysis.samples)
    for (const std::vector<HeadsMetrics>& measured : layers)
      for (std::size_t s = 0; s < samples; ++s) {
        systems.at.push_back(s < measured.size() ? &measured[s] : nullptr);
        if (s < measured.size())
          systems.nodes = std::max(systems.nodes, measured[s].combined.fidelity.node.size());
      }
  const auto layers = static_cast<std::int64_t>(analysis.layers.size());
  systems.axes = "convention layer sample";
  systems.shape = {static_cast<std::int64_t>(analysis.samples.size()), layers,
                   static_cast<std::int64_t>(samples)};
  systems.head_walks = analysis.conventions.front().per_head_walks;
  NamedArray weights{
      "weights", "layer head", {layers, static_cast<std::int64_t>(systems.heads)}, {}, {}};
  for (const std::vector<double>& of_layer : analysis.weights)
    for (std::size_t h = 0; h < systems.heads; ++h)
      put(weights, h < of_layer.size(), h < of_layer.size() ? of_layer[h] : 0.0);
  std::vector<NamedArray> arrays = {std::move(weights)};
  add_arrays(systems, analysis.conventions.front(), arrays);
  return arrays;
}

std::vector<NamedArray> arrays_of(const GraphReport& report) {
  Systems systems;
  systems.at = {&report.metrics};
  systems.heads = report.metrics.heads.size();
  systems.nodes = report.node_names.size();
  systems.node_axis = "node";
  std::vector<NamedArray> arrays = {
      {"weights", "head", {static_cast<std::int64_t>(systems.heads)}, report.weights, {}}};
  add_arrays(systems, report.options, arrays);
  return arrays;
}

}  // namespace synergraph::capi
