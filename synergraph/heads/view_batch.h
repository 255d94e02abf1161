#pragma once

#include <span>
#include <vector>

#include "synergraph/heads/measure_systems.h"
#include "synergraph/heads/view_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A request to measure a batch of attention, checked but for the attention itself: its sequences,
/// and the weights of the heads in each.
class ViewBatch {
 public:
  /// `fetch`: heads are not in memory, but fetched; see ViewSource::add. Options must outlive it.
  /// InputError for what measure() refuses before it reads attention.
  ViewBatch(const AttentionView& attention, std::span<const double> weights,
            const BatchOptions& options, FetchHead fetch = {});

  int sequences() const { return source_.most_samples(); }
  TokenSpan span(int sequence) const { return source_.span(0, sequence); }
  /// Convex.
  std::vector<double> weights(int sequence) const;
  /// Puts them behind others.
  void append_weights(int sequence, std::vector<double>& into) const;

  /// Room for what is measured of every sequence.
  BatchMetrics result() const;
  /// Measures these sequences on the CPU, as measure() does, into their places of `result`.
  void measure_on_cpu(const std::vector<SampleRange>& sequences, BatchMetrics& result);

 private:
  const BatchOptions& options_;
  ViewSource source_;
  std::size_t heads_;
  std::vector<double> weights_;  ///< one list, or one for every sample
};

}  // namespace synergraph
#pragma GCC visibility pop
