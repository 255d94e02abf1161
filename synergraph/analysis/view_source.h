#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/heads/metrics_engine.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Attention in memory that someone else owns, a view a layer, as a source. Its samples are the
/// sequences that were chosen, or the samples of the views.
class ViewSource : public SequenceSource {
 public:
  /// How far a row's sum may be from 1, and what it means if it is less: see BatchOptions.
  explicit ViewSource(std::optional<double> row_tolerance = {},
                      MissingMass missing_mass = MissingMass::kError);

  /// Adds a layer, in memory or fetched, see BatchLayer. InputError for what check_layer() refuses,
  /// and where the sequences are not in it.
  void add(std::string name, const AttentionView& view, FetchHead fetch = {});

  /// How the caller's arrays were read, for the reader.
  void set_reading(std::string reading) { reading_ = std::move(reading); }
  std::string reading() const override { return reading_; }

  std::vector<AttentionPiece> pieces(int begin, int end) const override;
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;
  std::optional<Batch> batch(const std::vector<AttentionPiece>& pieces) const override;

 private:
  class Reader;

  TokenSpan span(const AttentionPiece& piece) const;

  Batch views_;  // without sequences and weights
  std::string reading_;
};

}  // namespace synergraph
#pragma GCC visibility pop
