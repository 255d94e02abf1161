#pragma once

#include <cstddef>
#include <functional>

#pragma GCC visibility push(default)
namespace synergraph {

/// How many threads parallel work uses when nobody says otherwise: the CPUs this process may run
/// on.
int default_thread_count();

/// Calls body(index, worker) once for every index in [0, count), on up to `threads` threads
/// (0: default_thread_count()). Indices are handed out in order, one at a time; `worker` is in
/// [0, threads) and names the calling thread's workspace. Results must depend on the index alone.
/// When a body throws, no further index is handed out, and the exception of the smallest index is
/// rethrown here after all threads have stopped: it does not depend on the threads either.
void parallel_for(std::size_t count, int threads,
                  const std::function<void(std::size_t index, int worker)>& body);

}  // namespace synergraph
#pragma GCC visibility pop
