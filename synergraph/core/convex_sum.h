#pragma once

#include <span>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A weighted mean of matrices that come one at a time, sum_h w_h M_h / sum_h w_h, each
/// entry rounded once: products and sums are carried in twice the precision. So the mean of copies
/// of one matrix is that matrix to the last bit, whatever the weights, and rows that sum to one in
/// every matrix do so in the mean as well as they can.
class ConvexSum {
 public:
  /// Which entries there are; the others are left alone and never read.
  enum class Part { kLower, kUpper, kWhole };

  ConvexSum(int rows, int cols, Part part);

  /// Adds weight * matrix; the weight is finite and not negative.
  void add(ConstMatrixView matrix, double weight);

  /// The mean. At least one weight must have been positive; nothing can be added afterwards.
  Matrix take();

 private:
  int begin(int row) const { return part_ == Part::kUpper ? row : 0; }
  int end(int row) const { return part_ == Part::kLower ? row + 1 : sum_.cols(); }

  Part part_;
  Matrix sum_;
  Matrix rest_;  // what the roundings of sum_ left
  double weight_ = 0.0;
  double weight_rest_ = 0.0;
};

/// The mean of lower triangles of n rows: lower(h) is the h-th and valid until the next call.
template <class Lower>
Matrix convex_sum_of_lower(int n, std::span<const double> weights, Lower lower) {
  ConvexSum sum(n, n, ConvexSum::Part::kLower);
  for (std::size_t h = 0; h < weights.size(); ++h) sum.add(lower(static_cast<int>(h)), weights[h]);
  return sum.take();
}

}  // namespace synergraph
#pragma GCC visibility pop
