#pragma once

#include <span>

#pragma GCC visibility push(default)
namespace synergraph {

/// A mean over samples and its standard error.
struct Estimate {
  double mean = 0.0;
  double error = 0.0;  ///< standard error of the mean; NaN for a single sample
};

/// Computes the mean of independent samples, in a fixed order of summation, and its standard error.
/// The standard error is the sample standard deviation over the root of the number of samples.
/// Throws InputError without samples.
Estimate estimate(std::span<const double> samples);

}  // namespace synergraph
#pragma GCC visibility pop
