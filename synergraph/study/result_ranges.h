#pragma once

#include "synergraph/study/cell.h"

namespace synergraph {

// What the numbers of a cell's result can be. InputError names one that cannot be.

void check_loss(double loss);  ///< on held-out sequences; NaN where the model has overflowed
void check_accuracy(double accuracy);  ///< likewise
/// A number over the samples of the cell: its counts, and that its values lie in the quantity's
/// range, in their order, and are infinite or NaN where the counts say so and nowhere else.
void check_summary(const Quantity& quantity, const Summary& summary, const Cell& cell);
/// What is counted over all samples, and the rank correlation.
void check_layer(const LayerSummary& layer, const Cell& cell);
void check_subset_number(SubsetNumber which, double value, const Cell& cell);

}  // namespace synergraph
