#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/output_paths.h"
#include "cli/shard_options.h"
#include "synergraph/analysis/shared_samples.h"

namespace synergraph::cli {

/// The options of a worker among several that share the samples of one analysis.
struct SharedSamplesArguments {
  ShardArguments shard;
  std::string directory;  ///< empty: nothing is shared

  void add_to(CLI::App& command);
  bool wanted() const { return !directory.empty(); }
  /// Of this worker, among those on its machine.
  int local_rank() const { return wanted() ? shard.place().local_rank : 0; }
  /// UsageError for options that need a directory.
  void check() const;

  /// How samples are shared, for these files to read and to write, by workers that run models on
  /// such a device. All options of the command that are given count as settings, but for those that
  /// change no number.
  SharedSamples resolve(const std::vector<NamedPath>& inputs,
                        const std::vector<std::string>& outputs, const std::string& device) const;

  /// Works on the samples until it is stopped, with the worker's part of the threads, and says what
  /// has come of it.
  void run(Execution& execution, const std::function<SharedEnd()>& work) const;

 private:
  const CLI::App* command_ = nullptr;
};

}  // namespace synergraph::cli
