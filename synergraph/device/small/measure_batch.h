#pragma once

#include <span>

#include "synergraph/device/small/runner.h"
#include "synergraph/heads/view_batch.h"

namespace synergraph::small {

/// Gives what measure() of heads/measure_systems.h gives, with the same errors, for attention that
/// the runner reaches. The CPU measures what the runner leaves undecided; `fetch` brings it the
/// heads, unless it reaches the attention itself.
BatchMetrics measure_batch(Runner& runner, const AttentionView& attention,
                           std::span<const double> weights, const BatchOptions& options,
                           FetchHead fetch = {});

}  // namespace synergraph::small
