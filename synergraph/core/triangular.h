#pragma once

#include <functional>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// square_upper() reads up to this many entries to the left of the diagonal.
inline constexpr int kZeroBand = 32;

/// result = upper * upper for an upper triangular matrix, n^3/6 multiply-adds. The kZeroBand
/// entries to the left of the diagonal of `upper` must be zero; those of `result` may become zero,
/// and what is further below is left alone. The order of summation does not depend on the threads.
/// `result` must not overlap `upper`. Stopped if it was asked to stop before the last strip of
/// columns.
void square_upper(ConstMatrixView upper, MatrixView result, const Execution& execution = {});

/// out = upper * in for an upper triangular matrix.
void multiply_upper(ConstMatrixView upper, const double* in, double* out, int threads = 0);

/// out = a + weight * b for the upper triangles of matrices of one shape, and for rows beyond the
/// square, which count whole. `out` may be `a`; a row of it may be anything left of the diagonal.
void add_upper(const Matrix& a, double weight, const Matrix& b, Matrix& out);

/// x[i] = factor[i] (sum over k in [begin, i) of upper(k, i) x[k]) for i from begin + 1 on,
/// x[begin] being given: from the columns of a lower triangular matrix, which are the rows of
/// `upper`.
void forward_substitute(ConstMatrixView upper, const double* factor, int begin, double* x);

/// to(j, i) = from(i, j) for the lower triangle of `from`; the rest of `to` is left alone. `to` may
/// be the matrix of `from` itself, whose upper triangle then mirrors the lower one. Rows of `to`
/// that are complete are handed to `done`, if there is one, while they are in the cache.
void transpose_lower(ConstMatrixView from, MatrixView to,
                     const std::function<void(int begin, int end)>& done = {});

}  // namespace synergraph
#pragma GCC visibility pop
