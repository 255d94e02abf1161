#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/heads/attention_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Writes one head of a sample: tokens x tokens elements without gaps.
using FetchHead = std::function<void(std::int64_t sample, std::int64_t head, void* into)>;

/// Attention in memory that someone else owns, a view a layer, as a source. Its samples are the
/// sequences that were chosen, or the samples of the views.
class ViewSource : public SequenceSource {
 public:
  /// How far a row's sum may be from 1, and what it means if it is less: see BatchOptions.
  /// InputError where that cannot be.
  explicit ViewSource(std::optional<double> row_tolerance = {},
                      MissingMass missing_mass = MissingMass::kError);

  /// Adds a layer. `fetch`: its heads are not in memory, but fetched when they are read, each
  /// several times, on any thread; of the view, only extents and type count then. InputError for
  /// what check_view() refuses of the rest, and where the sequences are not in it.
  void add(std::string name, const AttentionView& view, FetchHead fetch = {});

  /// How the caller's arrays were read, for the reader.
  void set_reading(std::string reading) { reading_ = std::move(reading); }
  std::string reading() const override { return reading_; }

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  TokenSpan span(int layer, int sample) const override;

 private:
  class Reader;
  struct Layer {
    AttentionView view;
    FetchHead fetch;
  };

  std::optional<double> row_tolerance_;
  MissingMass missing_mass_;
  std::vector<Layer> views_;
  std::string reading_;
};

}  // namespace synergraph
#pragma GCC visibility pop
