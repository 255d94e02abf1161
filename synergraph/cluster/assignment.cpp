#include "synergraph/cluster/assignment.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace synergraph {
namespace {

/// Indices by falling cost, equal ones in their order.
std::vector<std::size_t> dearest_first(const std::vector<double>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  return order;
}

}  // namespace

std::vector<int> assign_work(const std::vector<double>& costs, int workers) {
  using Load = std::pair<double, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int worker = 0; worker < workers; ++worker) loads.emplace(0.0, worker);
  std::vector<int> owners(costs.size());
  for (const std::size_t piece : dearest_first(costs)) {
    const auto [load, worker] = loads.top();
    loads.pop();
    owners[piece] = worker;
    loads.emplace(load + costs[piece], worker);
  }
  return owners;
}

std::vector<int> assign_blocks(const std::vector<double>& costs, int workers) {
  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::vector<int> owners(costs.size());
  double before = 0.0;
  for (std::size_t piece = 0; piece < costs.size(); ++piece) {
    const double middle = before + costs[piece] / 2;
    owners[piece] = std::clamp(static_cast<int>(middle / total * workers), 0, workers - 1);
    before += costs[piece];
  }
  return owners;
}

std::vector<std::size_t> order_of_work(const std::vector<double>& costs,
                                       const std::vector<int>& owners, int worker, int workers) {
  std::vector<std::vector<std::size_t>> queues(static_cast<std::size_t>(workers));
  for (const std::size_t piece : dearest_first(costs))
    queues[static_cast<std::size_t>(owners[piece])].push_back(piece);
  std::vector<std::size_t> order = std::move(queues[static_cast<std::size_t>(worker)]);
  for (int k = 1; k < workers; ++k) {
    const auto& other = queues[static_cast<std::size_t>((worker + k) % workers)];
    order.insert(order.end(), other.rbegin(), other.rend());
  }
  return order;
}

}  // namespace synergraph
