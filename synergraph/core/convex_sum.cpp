#include "synergraph/core/convex_sum.h"

#include <utility>

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {

ConvexSum::ConvexSum(int rows, int cols, Part part)
    : part_(part), sum_(rows, cols), rest_(rows, cols) {}

void ConvexSum::add(ConstMatrixView matrix, double weight) {
  if (!(weight > 0.0)) return;
  for (int i = 0; i < sum_.rows(); ++i) {
    const int first = begin(i);
    kernels().add_exactly(matrix.row(i) + first, weight, end(i) - first, sum_.row(i) + first,
                          rest_.row(i) + first);
  }
  const double one = 1.0;
  kernels().add_exactly(&one, weight, 1, &weight_, &weight_rest_);
}

void ConvexSum::add_by_row(ConstMatrixView matrix, const double* row_weights) {
  if (row_weights_.rows() == 0) row_weights_ = Matrix(2, sum_.rows());
  for (int i = 0; i < sum_.rows(); ++i) {
    if (!(row_weights[i] > 0.0)) continue;
    const int first = begin(i);
    kernels().add_exactly(matrix.row(i) + first, row_weights[i], end(i) - first,
                          sum_.row(i) + first, rest_.row(i) + first);
    const double one = 1.0;
    kernels().add_exactly(&one, row_weights[i], 1, &row_weights_(0, i), &row_weights_(1, i));
  }
}

Matrix ConvexSum::take() {
  const bool by_row = row_weights_.rows() > 0;
  for (int i = 0; i < sum_.rows(); ++i) {
    const int first = begin(i);
    kernels().divide_exactly(by_row ? row_weights_(0, i) : weight_,
                             by_row ? row_weights_(1, i) : weight_rest_, end(i) - first,
                             rest_.row(i) + first, sum_.row(i) + first);
  }
  return std::move(sum_);
}

}  // namespace synergraph
