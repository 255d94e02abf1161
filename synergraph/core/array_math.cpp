#include "synergraph/core/array_math.h"

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {

double total(const double* a, int count) {
  return kernels().total(a, count);
}

double dot(const double* a, const double* b, int count) {
  return kernels().dot(a, b, count);
}

double largest(const double* a, int count, double least) {
  return kernels().largest(a, count, least);
}

bool within(const double* a, int count, double low, double high) {
  return kernels().within(a, count, low, high);
}

void add_scaled(const double* from, double factor, int count, double* to) {
  kernels().add_scaled(from, factor, count, to);
}

void add_products(ConstMatrixView a, ConstMatrixView b, MatrixView out) {
  kernels().add_products(a, b, out);
}

void l1_contributions(ConstMatrixView a, const double* b, const double* factors, double* out) {
  kernels().l1_contributions(a, b, factors, out);
}

}  // namespace synergraph
