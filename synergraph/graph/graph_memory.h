#pragma once

#include <string>

namespace synergraph {

/// Refuses a sparse graph that cannot be held: memory that the machine does not have would
/// otherwise be taken until the system kills the process. `bytes` are what each node and each edge
/// take while the graph is made; `where` begins the message.
struct BytesPer {
  double node = 0.0;
  double edge = 0.0;
};
void check_graph_memory(double nodes, double edges, const BytesPer& bytes,
                        const std::string& where = "");

}  // namespace synergraph
