#pragma once

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Assigns each piece of work to a worker: the most expensive piece first, each to the worker with
/// the least cost so far. No worker gets more than 4/3 of the optimum. The result depends only on
/// the arguments, so that all workers compute the same assignment.
std::vector<int> assign_work(const std::vector<double>& costs, int workers);

/// Assigns blocks of neighbouring pieces, for pieces that one worker should do in order.
std::vector<int> assign_blocks(const std::vector<double>& costs, int workers);

/// The order in which a worker looks for pieces. A worker's own pieces come first, the most
/// expensive first. Then come the pieces of the other workers from their ends, beginning with the
/// next worker.
std::vector<std::size_t> order_of_work(const std::vector<double>& costs,
                                       const std::vector<int>& owners, int worker, int workers);

}  // namespace synergraph
#pragma GCC visibility pop
