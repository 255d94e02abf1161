#pragma once

#include <string>
#include <vector>

#include "synergraph/report/words.h"
#include "synergraph/study/findings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What to know before reading the rest, a sentence each: how many seeds there are, which models
/// have not learned their task, whether the tests can decide anything.
std::vector<std::string> general_statements(const Findings& findings,
                                            const std::vector<CellResult>& results);

/// What findings say in plain words: whether each task needs attention, the general statements,
/// then for each task the trends,
/// synergy, and speed against fidelity, by both conventions, and subsets of heads by the exact one.
std::vector<std::string> statements(const Findings& findings,
                                    const std::vector<CellResult>& results);

}  // namespace synergraph
#pragma GCC visibility pop
