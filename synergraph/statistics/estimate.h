#pragma once

#include <span>

#pragma GCC visibility push(default)
namespace synergraph {

/// A mean over samples and its standard error.
struct Estimate {
  double mean = 0.0;
  double error = 0.0;  ///< NaN: a single sample has none
};

/// The mean of independent samples, in a fixed order of summation, and its standard error: the
/// sample standard deviation over the root of their number. InputError without samples.
Estimate estimate(std::span<const double> samples);

}  // namespace synergraph
#pragma GCC visibility pop
