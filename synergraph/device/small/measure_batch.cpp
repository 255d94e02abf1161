#include "synergraph/device/small/measure_batch.h"

#include <utility>
#include <vector>

#include "synergraph/device/small/systems.h"
#include "synergraph/heads/view_source.h"

namespace synergraph::small {
namespace {

/// Sequences on the CPU. Those of one sample may stand for it if only that sample is at hand.
class CpuSequences {
 public:
  CpuSequences(const AttentionView& attention, std::span<const double> weights,
               const BatchOptions& options, const FetchSample& fetch)
      : view_(attention), weights_(weights), options_(options), fetch_(fetch) {}

  BatchMetrics measure(std::span<const TokenSpan> sequences) {
    options_.sequences.assign(sequences.begin(), sequences.end());
    if (!fetch_) return synergraph::measure(view_, weights_, options_);
    const std::int64_t sample = sequences.front().sample;
    AttentionView one =
        attention_view(nullptr, view_.type, view_.samples, view_.heads, view_.tokens);
    held_.resize(static_cast<std::size_t>(one.strides.sample));
    fetch_(sample, held_.data());
    one.data = held_.data();
    one.strides.sample = 0;
    return synergraph::measure(one, weights_, options_);
  }

 private:
  AttentionView view_;
  std::span<const double> weights_;
  BatchOptions options_;
  const FetchSample& fetch_;
  std::vector<std::byte> held_;
};

}  // namespace

BatchMetrics measure_batch(Runner& runner, const AttentionView& attention,
                           std::span<const double> weights, const BatchOptions& options,
                           const FetchSample& fetch) {
  ViewSource source(options.row_tolerance, options.missing_mass);
  source.add("0", attention);
  source.choose(options.sequences);
  const std::vector<double> checked = batch_weights(attention, weights);
  check_conventions(options.conventions);
  const auto heads = static_cast<std::size_t>(attention.heads);
  const auto count = static_cast<std::size_t>(source.most_samples());
  std::vector<TokenSpan> sequences;
  std::vector<double> of_sequences;
  for (std::size_t k = 0; k < count; ++k) {
    sequences.push_back(source.span(0, static_cast<int>(k)));
    const std::size_t list =
        checked.size() == heads ? 0 : static_cast<std::size_t>(sequences.back().sample);
    const auto begin = checked.begin() + static_cast<std::ptrdiff_t>(list * heads);
    of_sequences.insert(of_sequences.end(), begin, begin + static_cast<std::ptrdiff_t>(heads));
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
  // Together, unless each comes with its sample.
  const std::size_t together = fetch ? 1 : all.size();
  for (std::size_t k = 0; k < all.size(); k += together) {
    BatchMetrics found = cpu.measure(all.subspan(k, together));
    for (std::size_t m = 0; m < together; ++m)
      for (auto& sequences_of : found.sequences) {
        auto& into = measured[left[k + m]];
        if (!into) into.emplace();
        into->push_back(std::move(sequences_of[m]));
      }
  }
  BatchMetrics result;
  result.sequences.resize(options.conventions.size());
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    result.sequences[c].reserve(count);
    for (auto& system : measured) result.sequences[c].push_back(std::move((*system)[c]));
  }
  return result;
}

}  // namespace synergraph::small
