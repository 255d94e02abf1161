#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "synergraph/device/small/runner.h"
#include "synergraph/heads/measure_systems.h"

namespace synergraph::small {

/// Copies a sample, (heads, tokens, tokens) without gaps, into memory of the host.
using FetchSample = std::function<void(std::int64_t sample, std::byte* into)>;

/// Gives what measure() of heads/measure_systems.h gives, with the same errors, for attention that
/// the runner reaches. The CPU measures what the runner leaves undecided; `fetch` brings it the
/// samples, unless it reaches the attention itself.
BatchMetrics measure_batch(Runner& runner, const AttentionView& attention,
                           std::span<const double> weights, const BatchOptions& options,
                           const FetchSample& fetch = {});

}  // namespace synergraph::small
