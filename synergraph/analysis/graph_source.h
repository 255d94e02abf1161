#pragma once

#include <vector>

#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/head.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A multi-head graph as a source of one layer and one sample; its heads walk along their edges.
class GraphSource : public AttentionSource {
 public:
  explicit GraphSource(const MultiHeadGraph& graph);

  /// The heads' weights as the graph gives them, normalised.
  const std::vector<double>& weights() const { return weights_; }

  std::vector<AttentionPiece> pieces(int begin, int end) const override;
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

 private:
  class Reader;

  std::vector<Head> heads_;
  std::vector<double> weights_;
};

}  // namespace synergraph
#pragma GCC visibility pop
