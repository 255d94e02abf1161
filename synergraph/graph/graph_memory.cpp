#include "synergraph/graph/graph_memory.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#ifndef __wasm__
#include <unistd.h>
#endif

#include "synergraph/core/error.h"
#include "synergraph/graph/sparse_graph.h"

namespace synergraph {
namespace {

/// Bytes of memory of the machine; infinity where that is not known.
double machine_memory() {
#ifndef __wasm__
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return static_cast<double>(pages) * static_cast<double>(size);
#endif
  return std::numeric_limits<double>::infinity();
}

}  // namespace

void check_graph_memory(double nodes, double edges, const BytesPer& bytes,
                        const std::string& where) {
  if (edges > static_cast<double>(kMaxSparseEdges))
    throw InputError(
        fmt::format("{}the graph would have {:.3g} edges; a sparse graph has at most "
                    "{}",
                    where, edges, kMaxSparseEdges));
  const double needed = nodes * bytes.node + edges * bytes.edge;
  const double there = machine_memory();
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  if (needed <= there) return;
  const std::string of_nodes = nodes > 0.0 ? fmt::format("{:.3g} nodes and ", nodes) : "";
  throw InputError(fmt::format(
      "{}the graph would have {}{:.3g} edges, which need {:.0f} GiB of memory; the machine has "
      "{:.0f} GiB. Use fewer nodes or edges",
      where, of_nodes, edges, std::ceil(needed / kGiB), there / kGiB));
}

}  // namespace synergraph
