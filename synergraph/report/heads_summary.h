#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/report/heads_results.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the numbers say in plain words, about ten lines: a line a layer of at most so many clauses,
/// or what stands out where there are many layers or no clauses. Of pairs, better sets and other
/// weights only what holds on samples that did not choose it, and permuted rows do not reach, is
/// spoken of.
std::vector<std::string> heads_summary(const HeadsReport& report, std::size_t clauses = SIZE_MAX);

}  // namespace synergraph
#pragma GCC visibility pop
