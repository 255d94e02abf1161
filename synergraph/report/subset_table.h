#pragma once

#include <optional>
#include <string>

#include "synergraph/report/study_table.h"
#include "synergraph/study/findings.h"

namespace synergraph {

/// The table subsets-TASK: what the subsets of heads of a task's models say, a column a layer and
/// one for the means over a model's layers. Nothing where no subsets were measured.
std::optional<StudyTable> subset_table(const Findings& findings, const std::string& task);

}  // namespace synergraph
