#pragma once

#include "synergraph/study/cell.h"

namespace synergraph {

/// About what a cell costs, in billions of operations: good enough to share cells among workers.
double cell_cost(const Cell& cell);

}  // namespace synergraph
