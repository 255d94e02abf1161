#pragma once

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// A summary of one quantity over samples. Times may be infinite ("never") and ratios may be
/// undefined (NaN). Such samples are counted, but never averaged.
struct Summary {
  std::size_t samples = 0;
  std::size_t never = 0;      ///< number of infinite values
  std::size_t undefined = 0;  ///< number of NaN values
  /// Mean of the finite values; infinity if all values are infinite, NaN if no value exists.
  double mean = 0.0;
  /// Population standard deviation of the finite values; NaN if no value is finite.
  double std = 0.0;
  /// Minimum of all values except NaN, infinite values included; NaN if no value exists.
  double min = 0.0;
  double median = 0.0;
  double max = 0.0;
  double quantile_10 = 0.0;  ///< interpolated 10 % quantile of all values except NaN
  double quantile_90 = 0.0;  ///< interpolated 90 % quantile of all values except NaN
};

/// Computes the summary of `values`, in a fixed order of summation.
Summary summarise(std::vector<double> values);

}  // namespace synergraph
#pragma GCC visibility pop
