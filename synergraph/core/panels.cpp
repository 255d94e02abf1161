#include "synergraph/core/panels.h"

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {

void add_panel_products(const PanelProduct& product) {
  kernels().add_panel_products(product);
}

double exponentials(double* row, int count, double shift) {
  return kernels().exponentials(row, count, shift);
}

void add_exactly(const double* from, double weight, int count, double* sum, double* rest) {
  kernels().add_exactly(from, weight, count, sum, rest);
}

void divide_exactly(double divisor, double divisor_rest, int count, const double* rest,
                    double* sum) {
  kernels().divide_exactly(divisor, divisor_rest, count, rest, sum);
}

}  // namespace synergraph
