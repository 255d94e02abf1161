#pragma once

#include <cstddef>
#include <vector>

#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/measure.h"

namespace synergraph {

/// Systems that were read, side by side as one array: what a device measures at once. All have the
/// same number of heads; shorter ones are padded.
class SystemBatch {
 public:
  struct Place {
    int layer;
    int sample;
  };

  SystemBatch() = default;
  /// For systems of so many heads and up to `nodes` nodes.
  SystemBatch(int heads, int nodes) : heads_(heads), nodes_(nodes) {}

  int heads() const { return heads_; }
  int nodes() const { return nodes_; }
  std::size_t size() const { return places_.size(); }
  bool same_shape(const SystemBatch& other) const {
    return heads_ == other.heads_ && nodes_ == other.nodes_;
  }

  /// Copies a system.
  void add(Place place, HeadSource& heads, const std::vector<double>& weights);
  /// Takes the systems of another batch of the same shape.
  void add(SystemBatch other);

  AttentionView view() const {
    return attention_view(values_.data(), static_cast<std::int64_t>(places_.size()), heads_,
                          nodes_);
  }
  const std::vector<Place>& places() const { return places_; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<TokenSpan>& sequences() const { return sequences_; }

 private:
  int heads_ = 0;
  int nodes_ = 0;
  std::vector<Place> places_;
  std::vector<double> values_;
  std::vector<double> weights_;
  std::vector<TokenSpan> sequences_;
};

}  // namespace synergraph
