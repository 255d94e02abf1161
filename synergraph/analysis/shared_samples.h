#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/cluster/worker_place.h"
#include "synergraph/core/execution.h"
#include "synergraph/heads/attention_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How workers share the samples of an analysis.
struct SharedSamples {
  std::string directory;  ///< that all of them see
  std::string title;      ///< for people
  /// All that the numbers depend on, in any words.
  std::string settings;
  /// And what is made of them in the end: it is made once for these words, as long as `stamp` (see
  /// SharedWork::merge) is the same.
  std::string outputs;
  std::function<std::string()> stamp = [] { return "nothing"; };
  bool prints = false;  ///< some of it goes to standard output, see SharedWorkOptions
  /// When what is measured was last changed or put where it is, in nanoseconds by the clock of its
  /// file system: parts that are no younger are measured again.
  std::int64_t changed = std::numeric_limits<std::int64_t>::min();
  /// A line that changes when that is written again: what was measured meanwhile is of no use.
  std::function<std::string()> input_stamp = [] { return ""; };
  /// Of what is done at a time by one worker, in billions of operations: a third of a second. The
  /// same for all workers.
  double least_cost = 10.0;
  WorkerPlace place = {};
  bool wait = true;       ///< see SharedWorkOptions
  double timeout = 60.0;  ///< likewise
};

enum class SharedEnd {
  kMerged,    ///< this worker has made what is made of all samples
  kFinished,  ///< another has
  kOthers,    ///< others still work on the last samples
};

/// What is done with ranges of samples.
struct SampleWork {
  double cost = 1.0;  ///< of a sample, in billions of operations, about
  /// Pieces of work that need no other piece's result, such as a search for each layer. Piece k
  /// comes as the range from samples + k to samples + k + 1.
  int searches = 0;
  std::string search_name = {};  ///< for people: "weights of layer"
  double search_cost = 1.0;      ///< of one of them
  /// Measures ranges, in order.
  std::function<void(const std::vector<SampleRange>&)> measure;
  /// What was measured on one of them, as bytes; it is not needed any more.
  std::function<std::string(const SampleRange&)> take;
  /// Takes such bytes in again, ranges in order.
  std::function<void(const SampleRange&, std::string_view)> restore;
  /// All samples are in: makes what is made of them.
  std::function<void()> finish;
};

/// Does a worker's part of the samples, and what is left by others; then one of the workers
/// restores and finishes all. A range that fails is recorded, and the others go on; then InputError
/// says why, as one process would have. Stopped if it was asked to stop.
SharedEnd share_samples(const SharedSamples& how, int samples, const Execution& execution,
                        const SampleWork& work);

}  // namespace synergraph
#pragma GCC visibility pop
