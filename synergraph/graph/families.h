#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/graph/sparse_graph.h"

#pragma GCC visibility push(default)
namespace synergraph {

// Families of feedforward graphs (docs/graphs.md). Every node has a self-loop, which counts in no
// indegree but that of poisson_graph(). Random graphs are pure functions of their arguments,
// whatever the number of threads. Of the execution, threads and the request to stop are used.

/// `indegree` distinct earlier nodes for every node, uniformly (Erdos-Renyi); all of them where
/// there are fewer.
SparseGraph fixed_indegree_graph(int nodes, int indegree, std::uint64_t seed,
                                 const Execution& execution = {});

/// A random `degree`-regular undirected graph, its nodes in random order, with every edge pointed
/// forward. InputError where there is none: nodes * degree odd, or degree >= nodes.
SparseGraph oriented_expander_graph(int nodes, int degree, std::uint64_t seed,
                                    const Execution& execution = {});

/// The self-loop, then the nodes i-1, i-2, ..., each with probability 1 - skip, until node i has
/// `budget` edges.
SparseGraph poisson_graph(int nodes, double skip, int budget, std::uint64_t seed,
                          const Execution& execution = {});

/// The graph that FunSearch found (FS). The nodes are cut into ceil(log2 n) consecutive blocks.
/// `matchings` random perfect matchings join each block to the next (4 log2 n are recommended). The
/// last block is complete. All others are filled as fs_sparse_graph() fills its blocks. A node that
/// no matching reaches, as one block may have a node more than the next, gets an edge to a random
/// node of the next block.
SparseGraph fs_graph(int nodes, int matchings, double ratio, std::uint64_t seed,
                     const Execution& execution = {});

/// FS without a complete block: the same construction fills every block, with fewer matchings by
/// the factor `ratio` at each level, down to blocks of one node.
SparseGraph fs_sparse_graph(int nodes, int matchings, double ratio, std::uint64_t seed,
                            const Execution& execution = {});

/// The original form of FS: complete bipartite graphs between successive blocks, the last block
/// complete.
SparseGraph fs_original_graph(int nodes, const Execution& execution = {});

/// A window of `window` earlier nodes, and edges from the first `global` nodes to all later ones.
SparseGraph longformer_graph(int nodes, int window, int global, const Execution& execution = {});

/// longformer_graph() with `random` more earlier nodes for every node.
SparseGraph bigbird_graph(int nodes, int window, int global, int random, std::uint64_t seed,
                          const Execution& execution = {});

/// `window` earlier nodes, each `step` nodes before the next.
SparseGraph dilated_graph(int nodes, int window, int step, const Execution& execution = {});

/// Edges from i - 1, i - 2, i - 4, i - 8, ...: PowerAttention, log-sparse attention.
SparseGraph power_graph(int nodes, const Execution& execution = {});

/// Makes a graph of a family from a description: "indegree:N:K[:SEED]", "expander:N:D[:SEED]",
/// "poisson:N:P:K[:SEED]", "fs:N:K[:RATIO[:SEED]]", "fs-sparse:N:K[:RATIO[:SEED]]",
/// "fs-original:N", "longformer:N:WINDOW:GLOBAL", "bigbird:N:WINDOW:GLOBAL:RANDOM[:SEED]",
/// "dilated:N:WINDOW:STEP", "power:N". Degrees and windows are whole numbers, or depend on N: "log"
/// (log2 rounded up), "4log", "sqrt", "2sqrt". `seed` is for descriptions without one. UsageError
/// for any other description.
SparseGraph generate_family(std::string_view description, std::uint64_t seed = 1,
                            const Execution& execution = {});

/// Returns a degree as descriptions have it: a whole number, or "log", "4log", "sqrt", "2sqrt" of
/// the number of nodes. UsageError for any other text.
int family_size(std::string_view text, int nodes);

/// Returns true if generate_family() knows the word before the first colon.
bool is_family(std::string_view description);

/// Returns true if graphs of this family depend on a seed. UsageError for an unknown family.
bool is_random_family(std::string_view description);

/// Returns the names of all families.
std::vector<std::string_view> family_names();

}  // namespace synergraph
#pragma GCC visibility pop
