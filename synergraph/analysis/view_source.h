#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/heads/metrics_engine.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Attention in memory that someone else owns, a view a layer, as a source. Its samples are the
/// sequences that were chosen, or the samples of the views.
class ViewSource : public AttentionSource {
 public:
  /// How far a row's sum may be from 1, and what it means if it is less: see BatchOptions.
  explicit ViewSource(std::optional<double> row_tolerance = {},
                      MissingMass missing_mass = MissingMass::kError);

  /// Adds a layer. InputError for a view that check_view() refuses, and where the sequences are not
  /// in it.
  void add(std::string name, const AttentionView& view);

  /// Writes one head of a sample: tokens x tokens elements without gaps.
  using Fetch = std::function<void(std::int64_t sample, std::int64_t head, void* into)>;
  /// The same for a layer whose heads are fetched when they are read, each several times, from any
  /// thread: of the view only extents and type count.
  void add(std::string name, const AttentionView& view, Fetch fetch);

  /// From now on these sequences of every layer; none: all samples whole. InputError where a layer
  /// does not have them.
  void choose(std::vector<TokenSpan> sequences);
  const std::vector<TokenSpan>& sequences() const { return sequences_; }
  /// The tokens of all samples, where the sequences are the samples in order, all cut alike.
  std::optional<TokenRange> common_range() const;

  std::vector<AttentionPiece> pieces(int begin, int end) const override;
  std::unique_ptr<AttentionReader> reader() override;

 private:
  class Reader;

  AttentionLayer described(std::string name, const AttentionView& view,
                           const std::vector<TokenSpan>& sequences) const;
  TokenSpan span(int layer, int sample) const;

  std::optional<double> row_tolerance_;
  MissingMass missing_mass_;
  struct Layer {
    AttentionView view;
    Fetch fetch;  // none: the view has data
  };
  std::vector<Layer> data_;
  std::vector<TokenSpan> sequences_;
};

}  // namespace synergraph
#pragma GCC visibility pop
