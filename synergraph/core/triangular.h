#pragma once

#include <functional>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of entries left of the diagonal that square_upper() may read.
inline constexpr int kZeroBand = 32;

/// Computes result = upper * upper for an upper triangular matrix with n^3/6 multiply-adds. The
/// kZeroBand entries to the left of the diagonal of `upper` must be zero. The kZeroBand entries to
/// the left of the diagonal of `result` may become zero. Entries further below stay unchanged.
/// `result` must not overlap `upper`. The order of summation does not depend on the number of
/// threads. Throws Stopped after a stop request before the last strip of columns.
void square_upper(ConstMatrixView upper, MatrixView result, const Execution& execution = {});

/// Computes out = upper * in for an upper triangular matrix.
void multiply_upper(ConstMatrixView upper, const double* in, double* out, int threads = 0);

/// Computes out = a + weight * b for the upper triangles of matrices of one shape. Rows below the
/// square part are added completely. `out` may be `a`. Entries of `out` left of the diagonal have
/// arbitrary values afterwards.
void add_upper(const Matrix& a, double weight, const Matrix& b, Matrix& out);

/// Computes x[i] = factor[i] (sum over k in [begin, i) of upper(k, i) x[k]) for i from begin + 1
/// on. The caller sets x[begin]. The rows of `upper` are the columns of a lower triangular matrix.
void forward_substitute(ConstMatrixView upper, const double* factor, int begin, double* x);

/// Copies the lower triangle of `from`, transposed: to(j, i) = from(i, j). The rest of `to` stays
/// unchanged. `to` may be the matrix of `from`: the upper triangle then mirrors the lower triangle.
/// If `done` is set, transpose_lower() passes complete rows of `to` to `done` while these rows are
/// in the cache.
void transpose_lower(ConstMatrixView from, MatrixView to,
                     const std::function<void(int begin, int end)>& done = {});

}  // namespace synergraph
#pragma GCC visibility pop
