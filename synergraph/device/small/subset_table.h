#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "synergraph/device/small/measure_batch.h"
#include "synergraph/subsets/subset_values.h"

namespace synergraph::small {

/// Why no subsets are measured under these options; empty: they are.
std::string refusal(const AttentionView& attention, const SubsetOptions& options);

/// Gives what subset_values() of subsets/subset_values.h gives, with the same errors, for attention
/// that the runner reaches. The CPU measures the subsets that the runner leaves undecided, and all
/// of them where refusal() has a reason.
SubsetValues subset_values(Runner& runner, const AttentionView& attention, std::int64_t sample,
                           std::span<const double> weights, const SubsetOptions& options,
                           const FetchHead& fetch = {});

}  // namespace synergraph::small
