#pragma once

#include <string>
#include <vector>

#include "synergraph/report/table.h"
#include "synergraph/study/findings.h"

namespace synergraph {

/// What the subsets of heads of a task's models say of their fidelity, a sentence each: whether
/// synergy needs all heads, how many of them are redundant, how near the learned weights are to the
/// best. None where no subsets were measured.
std::vector<std::string> subset_statements(const Findings& findings, const std::string& task);

/// The same in numbers, a row a task and head count, for a terminal.
Table subset_overview(const Findings& findings, const std::vector<std::string>& tasks);

}  // namespace synergraph
