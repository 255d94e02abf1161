#include "capi/arrays.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "synergraph/heads/quantity.h"

namespace synergraph::capi {
namespace {

/// Lists of numbers, one a node.
struct NodeList {
  const char* name;
  const std::vector<double>& (*of)(const Metrics&);
  bool of_walk;
};
using List = const std::vector<double>&;
constexpr NodeList kNodeLists[] = {
    {"hitting_time", [](const Metrics& m) -> List { return m.walk.hitting.node; }, true},
    {"truncated_hitting_time", [](const Metrics& m) -> List { return m.walk.truncated.node; },
     true},
    {"node_fidelity", [](const Metrics& m) -> List { return m.fidelity.node; }, false},
    {"node_fidelity_upper", [](const Metrics& m) -> List { return m.fidelity.node_upper; }, false},
    {"optimal_time", [](const Metrics& m) -> List { return m.fidelity.optimal_time; }, false}};

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

  NamedArray named(std::string name) const { return {std::move(name), axes, shape, {}, {}}; }

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

  NamedArray of_nodes(const NodeList& list, bool each_head) const {
    NamedArray array = named((each_head ? "heads/" : "") + std::string(list.name));
    if (each_head) add_axis(array, "head", heads);
    add_axis(array, node_axis, nodes);
    visit(each_head, [&](const Metrics* one) {
      for (std::size_t j = 0; j < nodes; ++j) {
        const bool there = one != nullptr && j < list.of(*one).size();
        put(array, there, there ? list.of(*one)[j] : 0.0);
      }
    });
    return array;
  }
};

void add_arrays(const Systems& systems, const std::vector<double>& eps,
                std::vector<NamedArray>& arrays) {
  for (const Quantity& quantity : layer_quantities(eps))
    if (systems.head_walks || (quantity.kind != Quantity::kMixingSynergy &&
                               quantity.kind != Quantity::kEffectiveForwardProbability))
      arrays.push_back(systems.of_systems(
          key_of(quantity), [&](const HeadsMetrics& s) { return value_of(quantity, s, eps); }));
  const auto add = [&](const char* name, const auto& of) {
    arrays.push_back(systems.of_systems(name, of));
  };
  using H = HeadsMetrics;
  add("best_head_fidelity_upper", [](const H& s) { return s.synergy.best_head_fidelity_upper; });
  add("synergy_lower", [](const H& s) { return s.synergy.lower; });
  add("synergy_upper", [](const H& s) { return s.synergy.upper; });
  add("best_head", [](const H& s) { return s.synergy.best_head; });
  add("best_head_decided", [](const H& s) { return int{s.synergy.best_head_decided}; });
  add("minimax_node", [](const H& s) { return s.combined.fidelity.minimax_node; });
  add("certified", [](const H& s) { return int{s.combined.fidelity.certified}; });
  add("worst_node", [](const H& s) { return s.combined.walk.hitting.worst_node; });

  for (const Quantity& quantity : system_quantities(eps))
    if (systems.head_walks || quantity.kind > Quantity::kMixingTime)
      arrays.push_back(systems.of_heads(
          key_of(quantity), [&](const Metrics& m) { return value_of(quantity, m, eps); }));
  arrays.push_back(
      systems.of_heads("minimax_node", [](const Metrics& m) { return m.fidelity.minimax_node; }));
  arrays.push_back(
      systems.of_heads("certified", [](const Metrics& m) { return int{m.fidelity.certified}; }));
  if (systems.nodes == 0) return;
  for (const NodeList& list : kNodeLists) arrays.push_back(systems.of_nodes(list, false));
  for (const NodeList& list : kNodeLists)
    if (systems.head_walks || !list.of_walk) arrays.push_back(systems.of_nodes(list, true));
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

std::vector<NamedArray> arrays_of(const LayerReport& report) {
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
  add_arrays(systems, analysis.conventions.front().walk.eps, arrays);
  return arrays;
}

std::vector<NamedArray> arrays_of(const HeadsReport& report) {
  Systems systems;
  systems.at = {&report.metrics};
  systems.heads = report.metrics.heads.size();
  systems.nodes = report.node_names.size();
  systems.node_axis = "node";
  std::vector<NamedArray> arrays = {
      {"weights", "head", {static_cast<std::int64_t>(systems.heads)}, report.weights, {}}};
  add_arrays(systems, report.options.walk.eps, arrays);
  return arrays;
}

}  // namespace synergraph::capi
