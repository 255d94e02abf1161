#include "synergraph/analysis/graph_source.h"

namespace synergraph {

class GraphSource::Reader : public AttentionReader {
 public:
  explicit Reader(const std::vector<Head>& heads) : heads_(heads) {}

  void open(const AttentionPiece& /*piece*/) override {}
  void visit(const LayerVisitor& visitor) override { visitor(0, heads_); }

 private:
  HeadList heads_;
};

GraphSource::GraphSource(const MultiHeadGraph& graph) : heads_(heads_of_graph(graph)) {
  std::vector<double> raw;
  for (const GraphHead& head : graph.heads) raw.push_back(head.weight);
  weights_ = normalised_weights(raw, heads_.size());
  layers_.push_back({"0", 1, static_cast<int>(heads_.size()), heads_.front().diffusion.rows()});
}

std::vector<AttentionPiece> GraphSource::pieces(int begin, int end) const {
  if (begin > 0 || end < 1) return {};
  return {{.sample = 0, .layer = AttentionPiece::kAllLayers}};
}

std::unique_ptr<AttentionReader> GraphSource::reader(const WorkingMemory& /*memory*/) {
  return std::make_unique<Reader>(heads_);
}

}  // namespace synergraph
