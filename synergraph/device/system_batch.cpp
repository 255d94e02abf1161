#include "synergraph/device/system_batch.h"

#include <algorithm>
#include <utility>

namespace synergraph {

void SystemBatch::add(Place place, HeadSource& heads, const std::vector<double>& weights) {
  const auto width = static_cast<std::size_t>(nodes_);
  const std::size_t begin = values_.size();
  values_.resize(begin + static_cast<std::size_t>(heads_) * width * width);
  for (int h = 0; h < heads_; ++h) {
    const ConstMatrixView head = heads.head(h).view();
    double* into = values_.data() + begin + static_cast<std::size_t>(h) * width * width;
    for (int i = 0; i < head.rows; ++i)
      std::copy_n(head.row(i), i + 1, into + static_cast<std::size_t>(i) * width);
  }
  sequences_.push_back({static_cast<std::int64_t>(places_.size()), 0, heads.nodes()});
  weights_.insert(weights_.end(), weights.begin(), weights.end());
  places_.push_back(place);
}

void SystemBatch::add(SystemBatch other) {
  if (places_.empty()) {
    *this = std::move(other);
    return;
  }
  for (TokenSpan& sequence : other.sequences_)
    sequence.sample += static_cast<std::int64_t>(places_.size());
  const auto append = [](auto& into, const auto& from) {
    into.insert(into.end(), from.begin(), from.end());
  };
  append(places_, other.places_);
  append(values_, other.values_);
  append(weights_, other.weights_);
  append(sequences_, other.sequences_);
}

}  // namespace synergraph
