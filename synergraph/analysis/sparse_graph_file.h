#pragma once

#include <cstdint>
#include <string>

#include "synergraph/core/execution.h"
#include "synergraph/graph/sparse_graph.h"
#include "synergraph/io/byte_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Reads a sparse graph: the .npz of scipy.sparse.save_npz (csr or csc), or text (docs/graphs.md).
/// Row i, column j of the matrix is the edge j -> i, by which node i hears node j. In text, each
/// line is "from to" or "from to weight"; text behind # is ignored, but a first line "# nodes N"
/// states the number of nodes. No self-loop is added. Throws InputError for anything else, and for
/// more than `most_nodes`.
SparseGraph read_sparse_graph(const ByteSourcePtr& bytes, const Execution& execution = {},
                              std::int64_t most_nodes = kMaxSparseNodes);
SparseGraph read_sparse_graph(const std::string& path, const Execution& execution = {});

/// Writes a sparse graph atomically: as .npz (csc, uncompressed) if the path ends so, else as text.
void write_sparse_graph(const std::string& path, const SparseGraph& graph);

}  // namespace synergraph
#pragma GCC visibility pop
