#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/graph/attention.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The weights of a layer's heads on a sample.
using SystemWeights = std::function<std::vector<double>(int layer, int sample)>;

/// Measures the systems of ranges of samples as visit_systems() visits them, and calls `keep` from
/// any thread with what measure() gives for each. Of the options, the execution is that of all
/// systems together, and it hears of heads; head_done is not used.
void measure_systems(AttentionSource& source, const std::vector<SampleRange>& samples,
                     const SystemWeights& weights, const MeasureOptions& options,
                     const std::function<void(int layer, int sample,
                                              std::vector<HeadsMetrics> by_convention)>& keep);

/// What is measured on a batch of attention, and how.
struct BatchOptions {
  /// All from one pass; see check_conventions().
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

/// Weights as measure() takes them, made convex: one list for all samples, or one after the other.
/// InputError where they cannot be.
std::vector<double> batch_weights(const AttentionView& attention, std::span<const double> weights);

/// Measures every sequence of a view: measure_systems() for a ViewSource of one layer. Weights: one
/// for every head, the same for all samples; or one for every head of every sample, [sample][head];
/// or none, for equal ones. They are normalised.
///
/// InputError, in one line, for whatever is wrong. Before any attention is read: extents and
/// strides (check_view), weights, sequences, options. Then attention that is not causal, finite,
/// non-negative or does not sum to one in a row: sample, head and row of the first such sequence.
/// Stopped if asked to stop.
BatchMetrics measure(const AttentionView& attention, std::span<const double> weights = {},
                     const BatchOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop
