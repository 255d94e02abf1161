#pragma once

#include "synergraph/analysis/part_archive.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/quantity_rows.h"
#include "synergraph/heads/stack.h"
#include "synergraph/heads/synergy.h"
#include "synergraph/weights/best_weights.h"

namespace synergraph {

/// What a source knows of a range of its samples.
template <class Archive>
void archive_knowledge(Archive& with, AttentionSource& source, const SampleRange& range) {
  for (int sample = range.begin; sample < range.end; ++sample) {
    std::vector<double> numbers = source.knowledge_of(sample);
    with(numbers);
    if constexpr (Archive::kReads)
      if (!numbers.empty()) source.take_knowledge(sample, numbers);
  }
}

// What the measurements of a sample consist of, see part_archive.h.

template <class Archive>
void archive(Archive& with, MixingBound& bound) {
  with(bound.steps, bound.valid_from);
}
template <class Archive>
void archive(Archive& with, HittingTimes& times) {
  with(times.node, times.mean, times.max, times.worst_node);
}
template <class Archive>
void archive(Archive& with, WalkSummary& walk) {
  with(walk.hitting, walk.truncated, walk.mixing, walk.mixing_least, walk.mixing_most,
       walk.averaged, walk.averaged_tv);
}
template <class Archive>
void archive(Archive& with, Fidelity& fidelity) {
  with(fidelity.node, fidelity.node_upper, fidelity.optimal_time, fidelity.minimax,
       fidelity.minimax_upper, fidelity.minimax_node, fidelity.minimax_time, fidelity.certified,
       fidelity.steps);
}
template <class Archive>
void archive(Archive& with, Metrics& metrics) {
  with(metrics.forward_probability, metrics.bound, metrics.walk, metrics.fidelity,
       metrics.backward_mixing);
  for (const QuantityRow& row : kQuantityRows)
    if (row.in_system != nullptr) with(metrics.*row.in_system);
}
template <class Archive>
void archive(Archive& with, Synergy& synergy) {
  with(synergy.best_head, synergy.best_head_decided, synergy.best_head_fidelity,
       synergy.best_head_fidelity_upper, synergy.value, synergy.lower, synergy.upper);
}
template <class Archive>
void archive(Archive& with, HeadsMetrics& metrics) {
  with(metrics.heads, metrics.combined, metrics.effective_bound, metrics.adaptive, metrics.synergy,
       metrics.moved_shares);
  for (const QuantityRow& row : kQuantityRows)
    if (row.in_layer != nullptr) with(metrics.*row.in_layer);
}
template <class Archive>
void archive(Archive& with, StackLayerPath& path) {
  with(path.heads, path.residual);
}
template <class Archive>
void archive(Archive& with, Stack& stack) {
  with(stack.signal, stack.fidelity, stack.weakest, stack.effective_tokens, stack.token,
       stack.layers, stack.shares, stack.measured_residual, stack.flow);
}
template <class Archive>
void archive(Archive& with, BestWeights& best) {
  with(best.weights, best.value, best.limit, best.given_value, best.equal_value, best.bound,
       best.simple_bound, best.optimal, best.gradient_norm, best.starts, best.iterations,
       best.adaptive_head, best.adaptive_probability, best.adaptive, best.adaptive_value);
}

}  // namespace synergraph
