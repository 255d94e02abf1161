#pragma once

#include <span>
#include <string_view>

#include "synergraph/core/error.h"

namespace synergraph {

/// log of (mean of exp(-beta x_j))^(-1/beta) for x_j = log_values[j]; shares[j] becomes its
/// derivative towards x_j, which sum to 1. Softness 1 / beta; 0: the minimum, with all of the
/// derivative at the first. -infinity: the first such value alone.
double soft_minimum(std::span<const double> log_values, double softness, std::span<double> shares);

/// log of the mean of exp(x); -infinity where every x is.
double log_mean_exp(std::span<const double> x);

/// What to say of a gradient of log 0. `value` says which value is 0: "minimax: the fidelity is 0".
InputError no_gradient_of_log_zero(std::string_view value);

}  // namespace synergraph
