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

Matrix ConvexSum::take() {
  for (int i = 0; i < sum_.rows(); ++i) {
    const int first = begin(i);
    kernels().divide_exactly(weight_, weight_rest_, end(i) - first, rest_.row(i) + first,
                             sum_.row(i) + first);
  }
  return std::move(sum_);
}

}  // namespace synergraph
