#include "synergraph/graph/design_edges.h"

#include <algorithm>
#include <utility>

namespace synergraph {
namespace {

std::size_t at(int k) {
  return static_cast<std::size_t>(k);
}

void insert(std::vector<std::int32_t>& list, std::int32_t value) {
  list.insert(std::lower_bound(list.begin(), list.end(), value), value);
}

void erase(std::vector<std::int32_t>& list, std::int32_t value) {
  list.erase(std::lower_bound(list.begin(), list.end(), value));
}

}  // namespace

DesignEdges::DesignEdges(int nodes, int heads)
    : nodes_(nodes),
      count_(std::int64_t{nodes} * heads),
      receivers_(at(heads), std::vector<std::vector<std::int32_t>>(at(nodes))),
      senders_(receivers_) {}

std::int64_t DesignEdges::count(int head) const {
  std::int64_t edges = nodes_;
  for (const auto& list : receivers_[at(head)]) edges += static_cast<std::int64_t>(list.size());
  return edges;
}

bool DesignEdges::has(int head, int from, int to) const {
  const auto& list = receivers(head, from);
  return std::binary_search(list.begin(), list.end(), to);
}

void DesignEdges::add(int head, int from, int to) {
  insert(receivers_[at(head)][at(from)], to);
  insert(senders_[at(head)][at(to)], from);
  ++count_;
}

void DesignEdges::remove(int head, int from, int to) {
  erase(receivers_[at(head)][at(from)], to);
  erase(senders_[at(head)][at(to)], from);
  --count_;
}

SparseGraph DesignEdges::graph(int head) const {
  std::vector<std::int64_t> first = {0};
  ScratchVector<std::int32_t> to;
  for (int j = 0; j < nodes_; ++j) {
    to.push_back(j);
    to.insert(to.end(), receivers(head, j).begin(), receivers(head, j).end());
    first.push_back(static_cast<std::int64_t>(to.size()));
  }
  return {std::move(first), std::move(to)};
}

void add_edges(const SparseGraph& graph, int head, DesignEdges& edges) {
  for (int j = 0; j < graph.nodes(); ++j)
    for (const std::int32_t i : graph.receivers(j))
      if (!edges.has(head, j, i)) edges.add(head, j, i);
}

}  // namespace synergraph
