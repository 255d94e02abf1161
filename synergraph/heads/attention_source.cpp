#include "synergraph/heads/attention_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/lower_triangle.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {
namespace {

/// InputError unless the layer has the sequence's sample and tokens.
void check_sequence(const TokenSpan& sequence, const AttentionLayer& layer) {
  if (sequence.sample < 0 || sequence.sample >= layer.samples)
    throw InputError(
        fmt::format("sample {} was asked for, there are 0:{}", sequence.sample, layer.samples));
  if (sequence.begin < 0 || sequence.begin >= sequence.end || sequence.end > layer.tokens)
    throw InputError(fmt::format("sample {}: tokens {}:{} were asked for, it has 0:{}",
                                 sequence.sample, sequence.begin, sequence.end, layer.tokens));
}

/// How many sequences in a row each sample has: 1 unless all have as many.
int sinks_of(const std::vector<TokenSpan>& sequences) {
  std::size_t count = 1;
  while (count < sequences.size() && sequences[count].sample == sequences.front().sample) ++count;
  if (sequences.size() % count != 0) return 1;
  for (std::size_t s = 0; s < sequences.size(); ++s)
    if (sequences[s].sample != sequences[s - s % count].sample ||
        (s >= count && s % count == 0 && sequences[s].sample == sequences[s - 1].sample))
      return 1;
  return static_cast<int>(count);
}

/// A layer whose samples are these sequences of it.
AttentionLayer cut(AttentionLayer layer, const std::vector<TokenSpan>& sequences) {
  if (sequences.empty()) return layer;
  const AttentionLayer whole = layer;
  layer.samples = static_cast<int>(sequences.size());
  layer.tokens = 0;
  for (const TokenSpan& sequence : sequences) {
    check_sequence(sequence, whole);
    const auto tokens = static_cast<int>(sequence.end - sequence.begin);
    layer.same_length = layer.same_length && (layer.tokens == 0 || tokens == layer.tokens);
    layer.tokens = std::max(layer.tokens, tokens);
  }
  layer.sinks = sinks_of(sequences);
  return layer;
}

}  // namespace

void place_sources(FidelityOptions& options, const std::vector<AttentionLayer>& layers) {
  if (options.from.empty() || layers.empty()) return;
  options.first_token = extra_nodes(layers.front().missing_mass);
  for (const AttentionLayer& layer : layers)
    options.from.places(layer.tokens, option_mark("from_tokens"));
}

int AttentionSource::most_samples() const {
  int most = 0;
  for (const AttentionLayer& layer : layers_) most = std::max(most, layer.samples);
  return most;
}

std::vector<AttentionPiece> AttentionSource::pieces(int begin, int end) const {
  std::vector<AttentionPiece> all;
  for (int layer = 0; layer < static_cast<int>(layers_.size()); ++layer)
    for (int s = begin; s < std::min(end, layers_[static_cast<std::size_t>(layer)].samples); ++s)
      all.push_back({s, layer});
  return all;
}

double AttentionSource::most_head_bytes() const {
  return kMostHeadBytes;
}

FloatType AttentionSource::element_type(int /*layer*/) const {
  return FloatType::kFloat64;
}

void AttentionSource::copy_heads(const AttentionPiece& piece, const HeadCopy& copy) {
  const std::unique_ptr<AttentionReader> from = reader({});
  from->open(piece);
  from->visit([&](int layer, HeadSource& heads) {
    LowerTriangle triangle(heads.nodes(), sizeof(double));
    for (int h = 0; h < heads.heads(); ++h) {
      const ConstMatrixView values = heads.head(h).view();
      for (int i = 0; i < values.rows; ++i) triangle.set_row(i, values.row(i));
      copy(layer, h, triangle.bytes());
    }
  });
}

void SequenceSource::add_whole(AttentionLayer layer) {
  layers_.push_back(cut(layer, sequences_));
  whole_.push_back(std::move(layer));
}

void SequenceSource::choose(std::vector<TokenSpan> sequences) {
  if (sequences.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() / 2))
    throw InputError(fmt::format("{} sequences are too many", sequences.size()));
  std::vector<AttentionLayer> layers;
  for (const AttentionLayer& layer : whole_) layers.push_back(cut(layer, sequences));
  layers_ = std::move(layers);
  sequences_ = std::move(sequences);
}

std::optional<TokenRange> SequenceSource::common_range() const {
  if (sequences_.empty()) return TokenRange();
  const TokenSpan& first = sequences_.front();
  for (std::size_t s = 0; s < sequences_.size(); ++s)
    if (sequences_[s].sample != static_cast<std::int64_t>(s) ||
        sequences_[s].begin != first.begin || sequences_[s].end != first.end)
      return std::nullopt;
  for (const AttentionLayer& layer : whole_)
    if (layer.samples != static_cast<int>(sequences_.size())) return std::nullopt;
  return TokenRange{first.begin, first.end};
}

}  // namespace synergraph
