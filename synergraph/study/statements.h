#pragma once

#include <string>
#include <vector>

#include "synergraph/study/findings.h"

namespace synergraph {

/// What findings say in plain words, a sentence each: how many seeds there are, which models have
/// not learned their task, whether the tests can decide anything, then for each task the trends,
/// synergy, and speed against fidelity, by both conventions. `findings.statements` is not looked
/// at.
std::vector<std::string> statements(const Findings& findings,
                                    const std::vector<CellResult>& results);

}  // namespace synergraph
