#pragma once

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Sums and products of arrays that use the vector registers of this CPU. Each function sums in a
/// fixed order with short chains. The order depends only on the instruction set.

/// Returns the sum of an array.
double total(const double* a, int count);

/// Returns the inner product of two arrays.
double dot(const double* a, const double* b, int count);

/// Returns the largest of `count` numbers, or `least` if no number is larger than `least`. No
/// number may be NaN.
double largest(const double* a, int count, double least);

/// Returns true if all entries lie in [low, high]. The result is false if an entry is NaN.
bool within(const double* a, int count, double low, double high);

/// Computes to += factor * from.
void add_scaled(const double* from, double factor, int count, double* to);

/// Computes out(i, j) += inner product of row i of a and row j of b, which have as many columns.
void add_products(ConstMatrixView a, ConstMatrixView b, MatrixView out);

/// Computes out[i] = sum over k of |a(i, k)| - |a(i, k) - factors[i] * b[k]| for every row of a.
/// Every term has the rounding of the product, also where a(i, k) is much larger.
void l1_contributions(ConstMatrixView a, const double* b, const double* factors, double* out);

}  // namespace synergraph
#pragma GCC visibility pop
