#pragma once

#include <utility>

#include "synergraph/core/matrix.h"
#include "synergraph/core/triangular.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A lower triangular matrix that can be read along rows and along columns: itself on and below the
/// diagonal, its transpose above it. Row j, from the diagonal on, is its column j.
class MirroredMatrix {
 public:
  MirroredMatrix() = default;
  explicit MirroredMatrix(Matrix lower) : matrix_(std::move(lower)) { mirror(); }

  /// Another lower triangle in the same memory: fill(Matrix&) writes it.
  template <class Fill>
  void refill(Fill fill) {
    fill(matrix_);
    mirror();
  }

  int nodes() const { return matrix_.rows(); }
  ConstMatrixView view() const { return matrix_.view(); }

  /// The part that nodes from `first` on make among themselves, mirrored too.
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
