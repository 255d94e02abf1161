#pragma once

#include <functional>

#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/working_memory.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// No error: what was asked to stop has stopped, unfinished.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped") {}
};

/// How work is carried out. None of it changes a result, but that too little memory may leave an
/// interval where there would be a number; all of it is silent unless asked.
struct Execution {
  int threads = 0;            ///< 0: the CPUs that this process may run on
  WorkingMemory memory = {};  ///< as far as it can be kept to
  ProgressOptions progress = {};
  /// Asked now and then, from any thread; true ends the work: with Stopped, or, where it can be
  /// continued later, with what is needed for that.
  std::function<bool()> stop = {};

  /// The number of threads, never 0.
  int thread_count() const;
  bool stopped() const { return stop && stop(); }
  /// Throws Stopped if it was asked to stop.
  void check() const {
    if (stopped()) throw Stopped();
  }
  /// The same, silent, on so many threads: for a part of the work.
  Execution part(int part_threads) const;
};

}  // namespace synergraph
#pragma GCC visibility pop
