#pragma once

#include "synergraph/report/table.h"
#include "synergraph/study/findings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The trend tests of one convention: a row a task, layer and claim.
Table trend_table(const Findings& findings, Convention convention);

/// How often all heads together beat the best one: a row a task, head count and layer.
Table synergy_table(const Findings& findings, Convention convention);

/// Mixing time against fidelity: a row a task and convention.
Table correlation_table(const Findings& findings);

/// What the paper could not afford, by the exact convention: worst start, uncut times, T_mix, how
/// many samples never get there, mixing synergy; a row a task, head count and layer.
Table worst_case_table(const std::vector<CellResult>& results);

}  // namespace synergraph
#pragma GCC visibility pop
