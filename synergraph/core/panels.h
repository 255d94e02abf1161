#pragma once

#include "synergraph/core/kernels/panel_product.h"

namespace synergraph {

/// out(o, s) += sum over k of factor(o, k) in(k, s); see PanelProduct.
void add_panel_products(const PanelProduct& product);

/// row[k] = exp(row[k] - shift) for entries that are at most `shift`, within two units in the last
/// place; 0 where that is below e^-708. Returns the sum.
double exponentials(double* row, int count, double shift);

/// sum + rest += weight * from, with both roundings in `rest`.
void add_exactly(const double* from, double weight, int count, double* sum, double* rest);

/// sum = (sum + rest) / (divisor + divisor_rest), rounded once.
void divide_exactly(double divisor, double divisor_rest, int count, const double* rest,
                    double* sum);

}  // namespace synergraph
