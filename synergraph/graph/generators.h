#pragma once

#include <cstdint>
#include <string_view>

#include "synergraph/graph/feedforward_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// j -> j+1.
FeedforwardGraph chain_graph(int nodes, bool self_loops = true);

/// j -> i for every i > j.
FeedforwardGraph complete_graph(int nodes, bool self_loops = true);

/// j -> j+1 .. j+width: sliding-window attention.
FeedforwardGraph window_graph(int nodes, int width, bool self_loops = true);

/// j -> j + 2^k for every k: paths of logarithmic length.
FeedforwardGraph powers_graph(int nodes, bool self_loops = true);

/// Every node has one edge, straight to the sink.
FeedforwardGraph star_graph(int nodes, bool self_loops = true);

/// Each forward edge is present with the given probability, independently.
FeedforwardGraph random_graph(int nodes, double probability, std::uint64_t seed,
                              bool self_loops = true);

/// Makes a graph from a description of the command line: "chain:N", "complete:N", "window:N:WIDTH",
/// "powers:N", "star:N", "random:N:PROBABILITY[:SEED]". UsageError for any other description.
FeedforwardGraph generate_graph(std::string_view description, bool self_loops = true);

}  // namespace synergraph
#pragma GCC visibility pop
