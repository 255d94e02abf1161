#pragma once

#include <string>
#include <vector>

#include "synergraph/report/heads_results.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the numbers say in plain words, about ten lines: a line a layer, or what stands out where
/// there are many. What differs from 0 no more than by chance is not spoken of.
std::vector<std::string> heads_summary(const HeadsReport& report);

}  // namespace synergraph
#pragma GCC visibility pop
