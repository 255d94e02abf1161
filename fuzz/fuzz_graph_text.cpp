// Any text is a graph or an InputError; a graph that was read is written and read back unchanged.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "synergraph/core/error.h"
#include "synergraph/graph/multi_head_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const synergraph::MultiHeadGraph graph = synergraph::parse_graph_text(text, "fuzz");
    if (graph.nodes > 64) return 0;  // writing large matrices out takes all the time
    const std::string once = synergraph::format_graph_text(graph);
    const std::string twice =
        synergraph::format_graph_text(synergraph::parse_graph_text(once, "again"));
    if (once != twice) std::abort();
    (void)synergraph::format_dot(graph);
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
