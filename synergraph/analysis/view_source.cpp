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
  explicit Reader(const ViewSource& source) : source_(source) {}

  void open(const AttentionPiece& piece) override { piece_ = piece; }

  void visit(const LayerVisitor& visitor) override {
    const auto layer = static_cast<std::size_t>(piece_.layer);
    AttentionView view = source_.data_[layer].view;
    const Fetch& fetch = source_.data_[layer].fetch;
    if (fetch) {  // one head stands for all of them
      const auto tokens = static_cast<std::size_t>(view.tokens);
      fetched_.resize(tokens * tokens * item_size(view.type));
      view.data = fetched_.data();
      view.strides.sample = view.strides.head = 0;
    }
    const TokenSpan span = source_.span(piece_.layer, piece_.sample);
    const int nodes = static_cast<int>(span.end - span.begin) + extra_nodes(source_.missing_mass_);
    const auto heads = static_cast<int>(view.heads);
    if (!heads_ || heads_->heads() != heads || heads_->nodes() != nodes)
      heads_.emplace(heads, nodes);
    heads_->start([this, layer, &fetch, sample = span.sample,
                   read = head_reader(view, span, source_.row_tolerance_, source_.missing_mass_)](
                      int head, Matrix& into) {
      if (fetch) fetch(sample, head, fetched_.data());
      try {
        read(head, into);
      } catch (const InputError& error) {
        if (source_.layers().size() == 1) throw;
        throw InputError(fmt::format("layer {}, {}", source_.layers()[layer].name, error.what()));
      }
    });
    visitor(piece_.layer, *heads_);
  }

 private:
  const ViewSource& source_;
  AttentionPiece piece_;
  std::optional<SampleHeads> heads_;
  std::vector<std::byte> fetched_;
};

ViewSource::ViewSource(std::optional<double> row_tolerance, MissingMass missing_mass)
    : row_tolerance_(row_tolerance), missing_mass_(missing_mass) {
  if (row_tolerance && !(*row_tolerance >= 0.0))
    throw InputError(
        fmt::format("row tolerance {} is not a positive number or zero", *row_tolerance));
}

AttentionLayer ViewSource::described(std::string name, const AttentionView& view,
                                     const std::vector<TokenSpan>& sequences) const {
  AttentionLayer layer{std::move(name), static_cast<int>(view.samples),
                       static_cast<int>(view.heads), static_cast<int>(view.tokens), missing_mass_};
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

void ViewSource::add(std::string name, const AttentionView& view) {
  add(std::move(name), view, nullptr);
}

void ViewSource::add(std::string name, const AttentionView& view, Fetch fetch) {
  AttentionView checked = view;
  if (fetch) checked = attention_view(this, view.type, view.samples, view.heads, view.tokens);
  check_view(checked);
  AttentionLayer layer = described(std::move(name), checked, sequences_);
  data_.push_back({checked, std::move(fetch)});
  layers_.push_back(std::move(layer));
}

void ViewSource::choose(std::vector<TokenSpan> sequences) {
  if (sequences.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 2))
    throw InputError(fmt::format("{} sequences are too many", sequences.size()));
  std::vector<AttentionLayer> layers;
  for (std::size_t l = 0; l < data_.size(); ++l)
    layers.push_back(described(layers_[l].name, data_[l].view, sequences));
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
  for (const Layer& layer : data_)
    if (layer.view.samples != static_cast<std::int64_t>(sequences_.size())) return std::nullopt;
  return TokenRange{first.begin, first.end};
}

TokenSpan ViewSource::span(int layer, int sample) const {
  if (!sequences_.empty()) return sequences_[static_cast<std::size_t>(sample)];
  return {sample, 0, data_[static_cast<std::size_t>(layer)].view.tokens};
}

std::vector<AttentionPiece> ViewSource::pieces(int begin, int end) const {
  return pieces_by_layer(layers_, begin, end);
}

std::unique_ptr<AttentionReader> ViewSource::reader() {
  return std::make_unique<Reader>(*this);
}

}  // namespace synergraph
