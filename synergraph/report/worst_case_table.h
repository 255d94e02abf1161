#pragma once

#include "synergraph/report/table.h"
#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Numbers beyond the paper's, by the exact convention: worst start, uncut times, T_mix, share of
/// samples that never arrive, mixing synergy. One row per task, number of heads and layer.
Table worst_case_table(const std::vector<CellResult>& results);

}  // namespace synergraph
#pragma GCC visibility pop
