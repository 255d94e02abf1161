#include "synergraph/analysis/view_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "synergraph/analysis/visit_samples.h"
#include "synergraph/core/error.h"

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

AttentionLayer ViewSource::described(std::string name, const AttentionView& view,
                                     const std::vector<TokenSpan>& sequences) const {
  AttentionLayer layer{std::move(name), static_cast<int>(view.samples),
                       static_cast<int>(view.heads), static_cast<int>(view.tokens),
                       views_.options.missing_mass};
  if (sequences.empty()) return layer;
  layer.samples = static_cast<int>(sequences.size());
  layer.tokens = 0;
  for (const TokenSpan& sequence : sequences) {
    check_sequence(sequence, view);
    const auto tokens = static_cast<int>(sequence.end - sequence.begin);
    layer.same_length = layer.same_length && (layer.tokens == 0 || tokens == layer.tokens);
    layer.tokens = std::max(layer.tokens, tokens);
  }
  return layer;
}

void ViewSource::add(std::string name, const AttentionView& view, FetchHead fetch) {
  BatchLayer layer{view, {}, std::move(name), std::move(fetch)};
  check_layer(layer);
  layers_.push_back(described(layer.name, view, sequences_));
  views_.layers.push_back(std::move(layer));
}

void ViewSource::choose(std::vector<TokenSpan> sequences) {
  if (sequences.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 2))
    throw InputError(fmt::format("{} sequences are too many", sequences.size()));
  std::vector<AttentionLayer> layers;
  for (const BatchLayer& layer : views_.layers)
    layers.push_back(described(layer.name, layer.view, sequences));
  layers_ = std::move(layers);
  sequences_ = std::move(sequences);
}

std::optional<TokenRange> ViewSource::common_range() const {
  if (sequences_.empty()) return TokenRange();
  const TokenSpan& first = sequences_.front();
  for (std::size_t s = 0; s < sequences_.size(); ++s)
    if (sequences_[s].sample != static_cast<std::int64_t>(s) ||
        sequences_[s].begin != first.begin || sequences_[s].end != first.end)
      return std::nullopt;
  for (const BatchLayer& layer : views_.layers)
    if (layer.view.samples != static_cast<std::int64_t>(sequences_.size())) return std::nullopt;
  return TokenRange{first.begin, first.end};
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
