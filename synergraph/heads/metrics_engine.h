#pragma once

#include <cstdint>
#include <functional>
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
  std::int64_t layer = 0;  ///< that the sample is of, in a batch of several
};

/// What is measured on a batch of attention, and how.
struct BatchOptions {
  /// All from one pass; see check_conventions().
  std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact)};
  /// Rows of these tokens are read, checked whole, and what they give to keys before `begin` is
  /// left out. Padding may hold anything: outside of a sequence, entries that are no shares of a
  /// row, NaN among them, count as zero. Empty: every sample of every layer, all its tokens.
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

/// Writes one head of a sample: tokens x tokens elements without gaps.
using FetchHead = std::function<void(std::int64_t sample, std::int64_t head, void* into)>;

/// A layer of attention.
struct BatchLayer {
  AttentionView view;
  /// One for every head, the same for all samples; or one for every head of every sample,
  /// [sample][head]; or none, for equal ones. They are normalised.
  std::vector<double> weights = {};
  /// Errors name it where there are several layers; empty: its number, from 0.
  std::string name = {};
  /// Where heads are not in memory: fetches them when they are read, each several times, on any
  /// thread. Of the view, only extents and type count then.
  FetchHead fetch = {};

  /// The weights on a sample, of a layer that has some.
  std::vector<double> weights_of(std::int64_t sample) const;
};

/// Layers that are measured together: their sequences side by side, whichever layer they are of.
struct Batch {
  std::vector<BatchLayer> layers;
  BatchOptions options = {};

  const BatchLayer& layer_of(const TokenSpan& sequence) const {
    return layers[static_cast<std::size_t>(sequence.layer)];
  }

  /// Does something with a layer: an InputError begins with its name, where there are several.
  void in_layer(const BatchLayer& layer, const std::function<void()>& body) const;
};

/// The nodes of a sequence: its tokens, and the one that takes what is missing.
inline int nodes_of(const TokenSpan& sequence, const BatchOptions& options) {
  return static_cast<int>(sequence.end - sequence.begin) + extra_nodes(options.missing_mass);
}

/// InputError unless check_view() accepts the view; where heads are fetched, its extents and type.
void check_layer(const BatchLayer& layer);

/// InputError unless the view has the sequence's sample and tokens.
void check_sequence(const TokenSpan& sequence, const AttentionView& view);

/// InputError unless rows can be read like this; see BatchOptions.
void check_rows(std::optional<double> row_tolerance, MissingMass missing_mass);

/// Measures batches of attention on some device. Results are a function of the batch alone.
class MetricsEngine {
 public:
  virtual ~MetricsEngine() = default;
  MetricsEngine() = default;
  MetricsEngine(const MetricsEngine&) = delete;
  MetricsEngine& operator=(const MetricsEngine&) = delete;

  /// The device, as provenance names it.
  virtual std::string name() const = 0;

  /// Measures every sequence of one layer; weights as BatchLayer has them.
  ///
  /// InputError, in one line, for whatever is wrong. Before any attention is read: extents and
  /// strides (check_view), weights, sequences, options. Then attention that is not causal, finite,
  /// non-negative or does not sum to one in a row: sample, head and row of the first such sequence.
  /// Stopped if asked to stop.
  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights = {},
                       const BatchOptions& options = {}) const;

  /// The same for several layers.
  BatchMetrics measure(Batch batch) const;

 private:
  /// The rest, for a batch that has been checked, all but the attention itself, and completed:
  /// there are sequences, names, and convex weights. The engine can read the attention's memory.
  virtual BatchMetrics measure_batch(const Batch& batch) const = 0;
};

/// Measures sequences side by side on the CPU's threads, nothing of the attention being copied but
/// the heads at hand.
const MetricsEngine& cpu_engine();

/// Measures on the CPU.
inline BatchMetrics measure(const AttentionView& attention, std::span<const double> weights = {},
                            const BatchOptions& options = {}) {
  return cpu_engine().measure(attention, weights, options);
}

}  // namespace synergraph
#pragma GCC visibility pop
