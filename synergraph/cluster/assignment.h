#pragma once

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Which of the workers each piece of work belongs to: the dearest first, each to the worker with
/// the least so far. No worker gets more than 4/3 of the best that can be. Depends on its arguments
/// alone, so that all workers come to the same.
std::vector<int> assign_work(const std::vector<double>& costs, int workers);

/// The same for pieces that are better done in their order by one worker: blocks of neighbours.
std::vector<int> assign_blocks(const std::vector<double>& costs, int workers);

/// The order in which a worker looks for pieces: its own, the dearest first; then the others' from
/// their ends, those of the next worker first.
std::vector<std::size_t> order_of_work(const std::vector<double>& costs,
                                       const std::vector<int>& owners, int worker, int workers);

}  // namespace synergraph
#pragma GCC visibility pop
