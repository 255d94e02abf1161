#include "synergraph/analysis/view_source.h"

#include <utility>

#include "synergraph/analysis/visit_samples.h"

namespace synergraph {

/// Reads when a sample is visited, not when it is opened: memory can be read by all threads.
class ViewSource::Reader : public AttentionReader {
 public:
  Reader(const ViewSource& source, const WorkingMemory& memory)
      : source_(source), reader_(source.views_, memory) {}

  void open(const AttentionPiece& piece) override { piece_ = piece; }
  void visit(const LayerVisitor& visitor) override {
    visitor(piece_.layer, reader_.read(source_.span(piece_)));
  }

 private:
  const ViewSource& source_;
  AttentionPiece piece_;
  SequenceReader reader_;
};

ViewSource::ViewSource(std::optional<double> row_tolerance, MissingMass missing_mass) {
  check_rows(row_tolerance, missing_mass);
  views_.options.row_tolerance = row_tolerance;
  views_.options.missing_mass = missing_mass;
}

void ViewSource::add(std::string name, const AttentionView& view, FetchHead fetch) {
  BatchLayer layer{view, {}, std::move(name), std::move(fetch)};
  check_layer(layer);
  add_whole({layer.name, static_cast<int>(view.samples), static_cast<int>(view.heads),
             static_cast<int>(view.tokens), views_.options.missing_mass});
  views_.layers.push_back(std::move(layer));
}

TokenSpan ViewSource::span(const AttentionPiece& piece) const {
  TokenSpan span;
  if (sequences_.empty())
    span = {piece.sample, 0, views_.layers[static_cast<std::size_t>(piece.layer)].view.tokens};
  else
    span = sequences_[static_cast<std::size_t>(piece.sample)];
  span.layer = piece.layer;
  return span;
}

std::optional<Batch> ViewSource::batch(const std::vector<AttentionPiece>& pieces) const {
  Batch batch = views_;
  for (const AttentionPiece& piece : pieces) batch.options.sequences.push_back(span(piece));
  return batch;
}

std::vector<AttentionPiece> ViewSource::pieces(int begin, int end) const {
  return pieces_by_layer(layers_, begin, end);
}

std::unique_ptr<AttentionReader> ViewSource::reader(const WorkingMemory& memory) {
  return std::make_unique<Reader>(*this, memory);
}

}  // namespace synergraph
