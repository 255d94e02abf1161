#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/device_view.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Writes one head of a sample: tokens x tokens elements without gaps.
using FetchHead = std::function<void(std::int64_t sample, std::int64_t head, void* into)>;

/// How a layer of a ViewSource lies in memory.
struct LayerMemory {
  AttentionView view = {};                  ///< its data are for arrays alone
  std::optional<QueryKeyView> scores = {};  ///< what the layer is computed from, if it is
  std::optional<DevicePlace> place = {};    ///< nothing: in the memory of the CPU
  bool fetched = false;                     ///< the CPU reads heads by a FetchHead

  /// Whether a device can be given the layer as it lies.
  bool lies_in_memory() const { return !fetched || scores || place; }
};

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

  /// Adds a layer in the memory of a device. `fetch` is for what the CPU reads of it.
  void add_on_device(std::string name, const AttentionView& view, FetchHead fetch,
                     const DevicePlace& place);

  /// Adds a layer that is computed from queries and keys, in the memory of the CPU or of a device.
  /// `fetch` writes heads in elements of this type; without it the CPU computes them itself, which
  /// needs queries and keys in its memory.
  void add_scores(std::string name, const QueryKeyView& scores, FetchHead fetch = {},
                  FloatType fetched = FloatType::kFloat64, std::optional<DevicePlace> place = {});

  const LayerMemory& memory(int layer) const {
    return views_[static_cast<std::size_t>(layer)].memory;
  }
  std::optional<double> row_tolerance() const { return row_tolerance_; }
  MissingMass missing_mass() const { return missing_mass_; }

  /// How the caller's arrays were read, for the reader.
  void set_reading(const std::string& reading) { reading_ = reading; }
  std::string reading() const override { return reading_; }

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  TokenSpan span(int layer, int sample) const override;

 private:
  class Reader;
  struct Layer {
    LayerMemory memory;
    FetchHead fetch;
  };

  void add_layer(std::string name, LayerMemory memory, FetchHead fetch);

  std::optional<double> row_tolerance_;
  MissingMass missing_mass_;
  std::vector<Layer> views_;
  std::string reading_;
};

}  // namespace synergraph
#pragma GCC visibility pop
