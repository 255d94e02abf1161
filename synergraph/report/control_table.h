#pragma once

#include <map>
#include <optional>
#include <string>

#include "synergraph/report/study_table.h"
#include "synergraph/study/findings.h"

namespace synergraph {

/// Does the task need attention? The table control-TASK: held-out accuracy of a task's models as
/// they are, with the heads of all layers off, and with the heads of one layer off. Nothing where
/// no control was measured.
std::optional<StudyTable> control_table(const std::string& task, const ResultsByHeads& by_heads);

/// The same of all tasks in short, the layers off one at a time in one column: the least and the
/// largest mean. No rows where no control was measured.
Table control_overview(const std::map<std::string, ResultsByHeads>& groups);

/// "cycle: 16 of 16 models need attention. ..."; empty where no control was measured.
std::string control_statement(const std::string& task, const ResultsByHeads& by_heads);

}  // namespace synergraph
