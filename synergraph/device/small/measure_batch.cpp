#include "synergraph/device/small/measure_batch.h"

#include <utility>
#include <vector>

#include "synergraph/device/small/systems.h"

namespace synergraph::small {

BatchMetrics measure_batch(Runner& runner, const AttentionView& attention,
                           std::span<const double> weights, const BatchOptions& options,
                           FetchHead fetch) {
  ViewBatch batch(attention, weights, options, std::move(fetch));
  std::vector<TokenSpan> sequences;
  std::vector<double> of_sequences;
  for (int k = 0; k < batch.sequences(); ++k) {
    sequences.push_back(batch.span(k));
    batch.append_weights(k, of_sequences);
  }
  auto measured =
      measure_sequences(runner, attention_of(attention, options), sequences, of_sequences, options);
  BatchMetrics result = batch.result();
  std::vector<SampleRange> left;
  for (int k = 0; k < batch.sequences(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (!measured[at]) {
      if (left.empty() || left.back().end != k) left.push_back({k, k});
      ++left.back().end;
      continue;
    }
    for (std::size_t c = 0; c < result.sequences.size(); ++c)
      result.sequences[c][at] = std::move((*measured[at])[c]);
  }
  if (!left.empty()) batch.measure_on_cpu(left, result);
  return result;
}

}  // namespace synergraph::small
