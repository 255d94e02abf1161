#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/setting.h"

#pragma GCC visibility push(default)
namespace synergraph {

inline constexpr int kMostDesignNodes = 4096;
inline constexpr int kMostDesignHeads = 64;
inline constexpr std::int64_t kMostDesignEdges = std::int64_t{1} << 24U;

/// What search_designs() looks for, and for how long.
struct DesignSettings {
  int size = 256;                     ///< number of nodes
  std::string indegree = "4log";      ///< as in generate_family(); see `edges`
  std::optional<std::int64_t> edges;  ///< of all heads, self-loops included
  int heads = 1;
  std::int64_t averaged_mixing = 0;    ///< limit on T_avg; 0: 4 log2 n, rounded up
  std::optional<std::int64_t> mixing;  ///< limit on T_mix
  double eps = 0.25;
  std::vector<std::string> starts = {"layers", "fs-original", "power", "poisson:0.2:4log",
                                     "random"};
  int levels = 1;
  std::uint64_t seed = 1;
  std::int64_t steps = 20000;
  std::optional<double> seconds;
  std::string state;
};

/// See Setting.
template <class Visit>
void visit_settings(DesignSettings& settings, Visit&& visit) {
  constexpr std::string_view kWanted = "Wanted";
  constexpr std::string_view kSearch = "Search";
  visit(Setting{.key = "size", .group = kWanted, .help = "number of nodes"}, settings.size,
        NumberRange<int>{1, kMostDesignNodes});
  visit(Setting{.key = "indegree",
                .group = kWanted,
                .help = "budget as edges into each node beside its self-loop, on average and over "
                        "all heads: a number, log, 4log, sqrt"},
        settings.indegree);
  visit(Setting{.key = "edges",
                .group = kWanted,
                .help = "budget as the number of edges of all heads, self-loops included "
                        "(default: from the indegree)"},
        settings.edges, NumberRange<std::int64_t>{1, kMostDesignEdges});
  visit(Setting{.key = "heads",
                .group = kWanted,
                .help = "number of heads, each with its own edges; they have equal weights"},
        settings.heads, NumberRange<int>{1, kMostDesignHeads});
  visit(Setting{.key = "averaged_mixing",
                .group = kWanted,
                .help = "limit on the averaged mixing time, in steps; 0: 4 log2 n, rounded up"},
        settings.averaged_mixing, NumberRange<std::int64_t>{0, 100000});
  visit(Setting{.key = "mixing",
                .group = kWanted,
                .help = "limit on the mixing time from the worst node, in steps (default: none)"},
        settings.mixing, NumberRange<std::int64_t>{1, 100000});
  visit(Setting{.key = "eps", .group = kWanted, .help = "threshold of the mixing times"},
        settings.eps, kThresholdRange);
  visit(Setting{.key = "starts",
                .group = kSearch,
                .help = "designs that searches start from: layers, random, or families of graphs "
                        "without number of nodes and seed"},
        settings.starts);
  visit(
      Setting{.key = "levels",
              .group = kSearch,
              .help = "number of budgets, and of limits on the averaged mixing time, to try, each "
                      "half of the previous one; every pair has its own searches"},
      settings.levels, NumberRange<int>{1, 8});
  visit(Setting{.key = "seed", .group = kSearch, .help = "seed of the searches"}, settings.seed,
        NumberRange<std::uint64_t>{});
  visit(Setting{.key = "steps", .group = kSearch, .help = "number of moves that each search tries"},
        settings.steps, NumberRange<std::int64_t>{0, 1000000000000});
  visit(Setting{.key = "seconds",
                .group = kSearch,
                .help = "time after which searches end early, in seconds (default: none)"},
        settings.seconds, NumberRange<double>{0.0, 1e9});
  visit(
      Setting{.key = "state",
              .group = kSearch,
              .help = "file with the state of the searches, from which the same command continues",
              .value = "FILE",
              .effect = SettingEffect::kExecution},
      settings.state);
}

}  // namespace synergraph
#pragma GCC visibility pop
