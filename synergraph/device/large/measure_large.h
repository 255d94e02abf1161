#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/device/large/operators.h"
#include "synergraph/heads/measure_systems.h"

namespace synergraph::large {

/// Why no large system is measured on a device under these options; empty: it is.
std::string refusal(const BatchOptions& options);

/// Whether the published walk is asked for.
bool wants_published(const BatchOptions& options);

/// Whether the attention that the operators were made of is good as far as a device can see, its
/// rows summing to 1 within a tolerance. The CPU looks at what is not, and says what is wrong.
bool is_good(const Operators& operators, double row_tolerance);

/// Measures one system, by convention. Nothing where panels and powers leave a number undecided.
/// `own_walks`: operators whose columns are the walks of the heads, where those do not go by the
/// columns of their diffusions.
std::optional<std::vector<HeadsMetrics>> measure(Operators& operators,
                                                 const std::vector<double>& weights,
                                                 const BatchOptions& options,
                                                 Operators* own_walks = nullptr);

}  // namespace synergraph::large
