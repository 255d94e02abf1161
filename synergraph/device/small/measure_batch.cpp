#include "synergraph/device/small/measure_batch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "synergraph/core/parallel.h"
#include "synergraph/device/small/systems.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/heads/view_batch.h"

namespace synergraph::small {
namespace {

// Samples that are brought to the CPU at a time, in bytes.
constexpr std::size_t kMostFetched = std::size_t{64} << 20U;

/// Measures sequences on the CPU.
class CpuSequences {
 public:
  CpuSequences(const AttentionView& attention, std::span<const double> weights,
               const BatchOptions& options, const FetchSample& fetch)
      : view_(attention), weights_(weights), options_(options), fetch_(fetch) {
    if (fetch)
      view_ = attention_view(nullptr, view_.type, view_.samples, view_.heads, view_.tokens);
  }

  /// How many sequences are measured at a time.
  std::size_t together(std::size_t count) const {
    if (!fetch_) return count;
    return std::clamp<std::size_t>(kMostFetched / sample_bytes(), 1, count);
  }

  /// Calls keep(k, numbers) for all of them, once for every convention in order.
  template <class Keep>
  void measure(std::span<const TokenSpan> sequences, Keep keep) {
    if (!fetch_) {
      BatchMetrics found = measure_in(view_, sequences, options_.execution);
      for (std::size_t k = 0; k < sequences.size(); ++k)
        for (auto& of_convention : found.sequences) keep(k, std::move(of_convention[k]));
      return;
    }
    held_.resize(sequences.size() * sample_bytes());
    for (std::size_t k = 0; k < sequences.size(); ++k)
      fetch_(sequences[k].sample, held_.data() + k * sample_bytes());
    std::vector<BatchMetrics> found(sequences.size());
    const int at_once =
        std::min(options_.execution.thread_count(), static_cast<int>(sequences.size()));
    const Execution each = execution_of_each(options_.execution, at_once);
    parallel_for(sequences.size(), at_once, [&](std::size_t k, int) {
      AttentionView one = view_;  // its only sample stands for all
      one.data = held_.data() + k * sample_bytes();
      one.strides.sample = 0;
      found[k] = measure_in(one, sequences.subspan(k, 1), each);
    });
    for (std::size_t k = 0; k < sequences.size(); ++k)
      for (auto& of_convention : found[k].sequences) keep(k, std::move(of_convention.front()));
  }

 private:
  std::size_t sample_bytes() const { return static_cast<std::size_t>(view_.strides.sample); }
  BatchMetrics measure_in(const AttentionView& view, std::span<const TokenSpan> sequences,
                          const Execution& execution) const {
    BatchOptions options = options_;
    options.sequences.assign(sequences.begin(), sequences.end());
    options.execution = execution;
    return synergraph::measure(view, weights_, options);
  }

  AttentionView view_;
  std::span<const double> weights_;
  const BatchOptions& options_;
  const FetchSample& fetch_;
  std::vector<std::byte> held_;
};

}  // namespace

BatchMetrics measure_batch(Runner& runner, const AttentionView& attention,
                           std::span<const double> weights, const BatchOptions& options,
                           const FetchSample& fetch) {
  const ViewBatch batch(attention, weights, options);
  const auto count = static_cast<std::size_t>(batch.sequences());
  std::vector<TokenSpan> sequences;
  std::vector<double> of_sequences;
  for (int k = 0; k < batch.sequences(); ++k) {
    sequences.push_back(batch.span(k));
    const std::vector<double> of_one = batch.weights(k);
    of_sequences.insert(of_sequences.end(), of_one.begin(), of_one.end());
  }
  auto measured =
      measure_sequences(runner, attention_of(attention, options), sequences, of_sequences, options);
  std::vector<std::size_t> left;
  std::vector<TokenSpan> left_sequences;
  for (std::size_t k = 0; k < count; ++k) {
    if (measured[k]) continue;
    left.push_back(k);
    left_sequences.push_back(sequences[k]);
  }
  CpuSequences cpu(attention, weights, options, fetch);
  const std::span<const TokenSpan> all = left_sequences;
  const std::size_t together = all.empty() ? 1 : cpu.together(all.size());
  for (std::size_t k = 0; k < all.size(); k += together)
    cpu.measure(all.subspan(k, std::min(together, all.size() - k)),
                [&](std::size_t m, HeadsMetrics found) {
                  auto& into = measured[left[k + m]];
                  if (!into) into.emplace();
                  into->push_back(std::move(found));
                });
  BatchMetrics result;
  result.sequences.resize(options.conventions.size());
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    result.sequences[c].reserve(count);
    for (auto& system : measured) result.sequences[c].push_back(std::move((*system)[c]));
  }
  return result;
}

}  // namespace synergraph::small
