#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "synergraph/cluster/worker_place.h"
#include "synergraph/core/execution.h"

namespace synergraph::cli {

/// The options of a worker among several.
struct ShardArguments {
  std::string shard = "auto";
  bool leave = false;
  double timeout = 60.0;

  void add_to(CLI::App& command, const std::string& group);
  /// Which of the workers this one is.
  WorkerPlace place() const { return parse_shard(shard); }
};

/// Unless somebody says how many threads, those of one worker among the machine's.
void share_threads(Execution& execution, const WorkerPlace& place);

}  // namespace synergraph::cli
