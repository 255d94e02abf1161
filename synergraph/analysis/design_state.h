#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synergraph/analysis/design_chain.h"

namespace synergraph {

/// The states of all searches as bytes.
std::string design_state_bytes(const std::vector<ChainState>& chains);

/// Reads design_state_bytes() back. InputError unless there are `chains` states of designs of this
/// size with at most so many edges.
std::vector<ChainState> parse_design_state(std::string_view bytes, std::size_t chains, int nodes,
                                           int heads, std::int64_t most_edges);

}  // namespace synergraph
