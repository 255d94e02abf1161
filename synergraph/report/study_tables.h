#pragma once

#include <string>
#include <vector>

#include "synergraph/report/study_table.h"
#include "synergraph/study/findings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The tables control-TASK (where the control was measured), mixing-TASK, fidelity-TASK and
/// comparison-TASK for every task of the results, and subsets-TASK where subsets of heads were
/// measured.
/// Fidelities in `table` are in per cent, as in the paper. `findings` are those of the results.
std::vector<StudyTable> study_tables(const std::vector<CellResult>& results,
                                     const Findings& findings);

/// The table under its caption, as Markdown.
std::string markdown(const StudyTable& table);

/// The table with caption and label, as LaTeX; the label is "tab:" and the name.
std::string latex(const StudyTable& table);

}  // namespace synergraph
#pragma GCC visibility pop
