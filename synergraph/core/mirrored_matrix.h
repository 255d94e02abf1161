#pragma once

#include <utility>

#include "synergraph/core/matrix.h"
#include "synergraph/core/triangular.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A lower triangular matrix that can be read along rows and along columns. The storage holds the
/// matrix on and below the diagonal, and the transposed matrix above the diagonal. Row j from the
/// diagonal on is therefore column j of the matrix.
class MirroredMatrix {
 public:
  MirroredMatrix() = default;
  explicit MirroredMatrix(Matrix lower) : matrix_(std::move(lower)) { mirror(); }

  /// Replaces the lower triangle in place: fill(Matrix&) writes the new triangle.
  template <class Fill>
  void refill(Fill fill) {
    fill(matrix_);
    mirror();
  }

  int nodes() const { return matrix_.rows(); }
  ConstMatrixView view() const { return matrix_.view(); }

  /// Returns the block of nodes `first` .. nodes() - 1, which is also mirrored.
  ConstMatrixView from(int first) const {
    const int count = nodes() - first;
    return {matrix_.row(first) + first, count, count, matrix_.stride()};
  }

 private:
  void mirror() { transpose_lower(matrix_, matrix_.view()); }

  Matrix matrix_;
};

}  // namespace synergraph
#pragma GCC visibility pop
