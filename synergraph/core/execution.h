#pragma once

#include <functional>

#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/working_memory.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The exception that ends unfinished work after a stop request. Stopped does not report an error.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped") {}
};

/// Settings for how work runs. By default, work reports no progress. The settings do not change
/// results, with one exception. Too little memory may turn a number into an interval.
struct Execution {
  int threads = 0;            ///< number of threads; 0: one per CPU that this process may use
  WorkingMemory memory = {};  ///< memory limit, kept where possible
  ProgressOptions progress = {};
  /// The work calls `stop` from time to time, from any thread. The result true ends the work. Work
  /// that can be continued later returns what the continuation needs. Other work throws Stopped.
  std::function<bool()> stop = {};

  /// Returns the number of threads, which is never 0.
  int thread_count() const;
  bool stopped() const { return stop && stop(); }
  /// Throws Stopped if `stop` returns true.
  void check() const {
    if (stopped()) throw Stopped();
  }
  /// Returns a copy without progress reports that uses `part_threads` threads, for one part of the
  /// work.
  Execution part(int part_threads) const;
};

}  // namespace synergraph
#pragma GCC visibility pop
