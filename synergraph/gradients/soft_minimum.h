#pragma once

#include <span>

namespace synergraph {

/// log of (mean of exp(-beta x_j))^(-1/beta) for x_j = log_values[j]; shares[j] becomes its
/// derivative towards x_j, which sum to 1. Softness 1 / beta; 0: the minimum, with all of the
/// derivative at the first. -infinity: the first such value alone.
double soft_minimum(std::span<const double> log_values, double softness, std::span<double> shares);

}  // namespace synergraph
