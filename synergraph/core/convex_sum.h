#pragma once

#include <span>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The weighted mean of matrices that are added one at a time: sum_h w_h M_h / sum_h w_h. ConvexSum
/// carries products and sums in twice the precision and rounds each entry once. Hence the mean of
/// copies of one matrix equals that matrix to the last bit, for all weights. If the rows of every
/// matrix sum to one, the rows of the mean sum to one within one rounding per entry.
class ConvexSum {
 public:
  /// The entries that the matrices have. ConvexSum never reads or writes other entries.
  enum class Part { kLower, kUpper, kWhole };

  ConvexSum(int rows, int cols, Part part);

  /// Adds weight * matrix. The weight must be finite and non-negative.
  void add(ConstMatrixView matrix, double weight);

  /// Adds row_weights[i] times row i of the matrix, for every row i. A sum takes all its matrices
  /// by row, or none. At least one matrix must give a row a positive weight.
  void add_by_row(ConstMatrixView matrix, const double* row_weights);

  /// Returns the mean. At least one weight must be positive. No matrix can be added afterwards.
  Matrix take();

 private:
  int begin(int row) const { return part_ == Part::kUpper ? row : 0; }
  int end(int row) const { return part_ == Part::kLower ? row + 1 : sum_.cols(); }

  Part part_;
  Matrix sum_;
  Matrix rest_;  // rounding errors of sum_
  double weight_ = 0.0;
  double weight_rest_ = 0.0;
  Matrix row_weights_;  // their sums and the rounding errors; empty unless matrices come by row
};

/// Returns the mean of lower triangles with n rows. lower(h) returns triangle h, which stays valid
/// until the next call. With `by_row`, triangle h has the weights of its row h instead.
template <class Lower>
Matrix convex_sum_of_lower(int n, std::span<const double> weights, Lower lower,
                           const Matrix& by_row = {}) {
  ConvexSum sum(n, n, ConvexSum::Part::kLower);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto h = static_cast<int>(k);
    if (by_row.rows() == 0)
      sum.add(lower(h), weights[k]);
    else
      sum.add_by_row(lower(h), by_row.row(h));
  }
  return sum.take();
}

}  // namespace synergraph
#pragma GCC visibility pop
