#include "synergraph/core/execution.h"

#include "synergraph/core/parallel.h"

namespace synergraph {

int Execution::thread_count() const {
  return threads > 0 ? threads : default_thread_count();
}

Execution Execution::part(int part_threads) const {
  return {.threads = part_threads, .memory = memory, .progress = {}, .stop = stop};
}

}  // namespace synergraph
