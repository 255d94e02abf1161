#pragma once

#include <cstddef>
#include <functional>

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns the default number of threads for parallel work: the number of CPUs that this process
/// may use.
int default_thread_count();

/// Calls body(index, worker) once for every index in [0, count), on up to `threads` threads (0:
/// default_thread_count()). Threads take indices in order, one at a time. `worker` lies in [0,
/// threads) and identifies the workspace of the calling thread. Results must depend on the index
/// alone. After a body has thrown, parallel_for starts no further index and waits for all threads.
/// Then parallel_for rethrows the exception of the smallest index. The choice of this exception
/// does not depend on the number of threads.
void parallel_for(std::size_t count, int threads,
                  const std::function<void(std::size_t index, int worker)>& body);

}  // namespace synergraph
#pragma GCC visibility pop
