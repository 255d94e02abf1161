#include <cstdint>
#include <string>

#include "synergraph/analysis/sparse_graph_file.h"
#include "synergraph/core/error.h"

/// The input is a sparse graph: SciPy's archive, or text with an edge on each line. Few nodes,
/// since a line of text can ask for the memory of a thousand million of them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  try {
    constexpr std::int64_t kNodes = 1000;
    const synergraph::SparseGraph graph =
        synergraph::read_sparse_graph(synergraph::memory_bytes("input", input), {}, kNodes);
    if (graph.nodes() > kNodes) __builtin_trap();
    (void)graph.reversed();
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
