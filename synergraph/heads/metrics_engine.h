#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/graph/attention.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A sequence to measure: tokens begin .. end - 1 of a sample, the last of them being the sink. So
/// padding on either side is left out, and a sample with several sinks is several sequences.
struct TokenSpan {
  std::int64_t sample = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What is measured on a batch of attention, and how.
struct BatchOptions {
  /// All from one pass. Their per_head_walks must agree; their first eps is that of the mixing
  /// synergy.
  std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact)};
  /// Rows of these tokens are read, checked whole, and what they give to keys before `begin` is
  /// left out. Padding may hold anything: outside of a sequence, entries that are no shares of a
  /// row, NaN among them, count as zero. Empty: every sample, all its tokens.
  std::vector<TokenSpan> sequences = {};
  /// How far a row's sum may be from 1; nothing: what rounding explains, in the element type or in
  /// the shorter one that a row's entries show.
  std::optional<double> row_tolerance = {};
  /// What rows mean that sum to less than 1. With kNode a sequence has one more node, the first, in
  /// all that is measured.
  MissingMass missing_mass = MissingMass::kError;
  bool nodes = false;  ///< keep the numbers of every node, too
  Execution execution = {};
};

/// What was measured: sequences[convention][sequence], each in the order of the options.
struct BatchMetrics {
  std::vector<std::vector<HeadsMetrics>> sequences;
};

/// InputError unless the convention's eps, cutoff, horizon and step limit are in their ranges.
void check_convention(const MetricsOptions& convention);

/// InputError unless the view has the sequence's sample and tokens.
void check_sequence(const TokenSpan& sequence, const AttentionView& view);

/// A batch that has been checked, all but the attention itself, and completed.
struct Batch {
  AttentionView view;
  /// Convex, of the heads: one list for every sample, or one for all.
  std::vector<std::vector<double>> weights;
  BatchOptions options;  ///< with the sequences

  const std::vector<double>& weights_of(std::int64_t sample) const {
    return weights[weights.size() == 1 ? 0 : static_cast<std::size_t>(sample)];
  }
};

/// Measures batches of attention on some device. Results are a function of the batch alone.
class MetricsEngine {
 public:
  virtual ~MetricsEngine() = default;
  MetricsEngine() = default;
  MetricsEngine(const MetricsEngine&) = delete;
  MetricsEngine& operator=(const MetricsEngine&) = delete;

  /// The device, as provenance names it.
  virtual std::string name() const = 0;

  /// Measures every sequence. `weights`: one for every head, the same for all samples; or one for
  /// every head of every sample, [sample][head]; or none, for equal ones. They are normalised.
  ///
  /// InputError, in one line, for whatever is wrong: extents and strides (check_view), weights,
  /// sequences, options, and attention that is not causal, finite, non-negative or does not sum to
  /// one in a row; then it names sample, head and row of the first such sequence. Stopped if asked
  /// to stop.
  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights = {},
                       const BatchOptions& options = {}) const;

 private:
  /// The rest. The attention's memory is one that the engine can read.
  virtual BatchMetrics measure_batch(const Batch& batch) const = 0;
};

/// Measures samples side by side on the CPU's threads, nothing of the attention being copied but
/// the heads at hand.
const MetricsEngine& cpu_engine();

/// Measures on the CPU.
inline BatchMetrics measure(const AttentionView& attention, std::span<const double> weights = {},
                            const BatchOptions& options = {}) {
  return cpu_engine().measure(attention, weights, options);
}

}  // namespace synergraph
#pragma GCC visibility pop
