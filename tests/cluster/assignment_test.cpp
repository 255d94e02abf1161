#include "synergraph/cluster/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "synergraph/core/random.h"

namespace synergraph {
namespace {

std::vector<double> loads(const std::vector<double>& costs, const std::vector<int>& owners,
                          int workers) {
  std::vector<double> sums(static_cast<std::size_t>(workers));
  for (std::size_t k = 0; k < costs.size(); ++k)
    sums[static_cast<std::size_t>(owners[k])] += costs[k];
  return sums;
}

TEST(Assignment, IsBalancedWithinGrahamsBound) {
  RandomSequence draws(1, Purpose::kTest);
  for (int trial = 0; trial < 100; ++trial) {
    const int workers = 1 + static_cast<int>(draws.below(20));
    std::vector<double> costs(1 + draws.below(200));
    for (double& cost : costs) cost = 1.0 + static_cast<double>(draws.below(1000));
    const std::vector<double> sums = loads(costs, assign_work(costs, workers), workers);
    const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double least = std::max(total / workers, *std::max_element(costs.begin(), costs.end()));
    // What no assignment can be below, when the dearest pieces are more than the workers.
    std::vector<double> sorted = costs;
    std::sort(sorted.rbegin(), sorted.rend());
    const auto w = static_cast<std::size_t>(workers);
    const double pair = sorted.size() > w ? sorted[w - 1] + sorted[w] : 0.0;
    EXPECT_LE(*std::max_element(sums.begin(), sums.end()), 4.0 / 3 * std::max(least, pair) + 1e-9);
  }
}

TEST(Assignment, OfBlocksKeepsNeighboursTogether) {
  const std::vector<int> owners = assign_blocks(std::vector<double>(10, 2.0), 4);
  EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
  for (const double load : loads(std::vector<double>(10, 1.0), owners, 4)) {
    EXPECT_GE(load, 2.0);
    EXPECT_LE(load, 3.0);
  }
  EXPECT_EQ(assign_blocks({1.0}, 3).size(), 1U);
}

TEST(OrderOfWork, IsOnesOwnFirstAndThenTheOthersFromTheirEnds) {
  const std::vector<double> costs = {1, 2, 3, 4, 5, 6};
  const std::vector<int> owners = {0, 1, 2, 0, 1, 2};
  EXPECT_EQ(order_of_work(costs, owners, 1, 3), (std::vector<std::size_t>{4, 1, 2, 5, 0, 3}));
  for (int worker = 0; worker < 3; ++worker) {
    std::vector<std::size_t> order = order_of_work(costs, owners, worker, 3);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  }
}

}  // namespace
}  // namespace synergraph
