#pragma once

#include <functional>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How measure() goes about it.
struct MeasureOptions {
  /// One HeadsMetrics each; see check_conventions().
  std::vector<MetricsOptions> conventions = {};
  bool nodes = false;                       ///< keep the numbers of every node, too
  Execution execution = {.threads = 1};     ///< of this system
  std::function<void()> head_done = [] {};  ///< called after every head
  /// Hears how far a system is whose heads are not in memory, several times a second at the most.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
  /// What was measured of the same heads by the same conventions, with any weights: each head's
  /// numbers are taken from there. Lists of nodes are in it if they are asked for.
  const std::vector<HeadsMetrics>* measured = nullptr;
};

}  // namespace synergraph
#pragma GCC visibility pop
