#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/device/small/runner.h"
#include "synergraph/heads/measure_systems.h"

namespace synergraph::small {

/// Attention as teams of threads read it, checked as attention_check() has it.
Attention attention_of(const AttentionView& view, const BatchOptions& options);

/// Why no small system is measured under these options; empty: it is.
std::string refusal(const BatchOptions& options);

/// Measures sequences of at most kMostNodes tokens: for each what measure() gives, by convention.
/// Nothing where a number is not decided, or the attention is not good: the CPU then measures the
/// sequence, or says what is wrong. The numbers of a sequence do not depend on the others.
/// `weights` are convex, one for every head of every sequence.
std::vector<std::optional<std::vector<HeadsMetrics>>> measure_sequences(
    Runner& runner, const Attention& attention, std::span<const TokenSpan> sequences,
    std::span<const double> weights, const BatchOptions& options);

}  // namespace synergraph::small
