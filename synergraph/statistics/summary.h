#pragma once

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// A number over samples. Times may be infinite ("never") and ratios may not exist (NaN): such
/// samples are counted, never averaged.
struct Summary {
  std::size_t samples = 0;
  std::size_t never = 0;      ///< infinite values
  std::size_t undefined = 0;  ///< NaN values
  double mean = 0.0;  ///< of the finite values; infinity if all are infinite, NaN if none is
  double std = 0.0;   ///< population standard deviation of the finite values; NaN if none is
  double min = 0.0;   ///< of all values that exist, infinite ones included; NaN if none does
  double median = 0.0;
  double max = 0.0;
  double quantile_10 = 0.0;  ///< a tenth of all values that exist is below; interpolated
  double quantile_90 = 0.0;  ///< likewise above
};

/// The summary of `values`, in a fixed order of summation.
Summary summarise(std::vector<double> values);

}  // namespace synergraph
#pragma GCC visibility pop
