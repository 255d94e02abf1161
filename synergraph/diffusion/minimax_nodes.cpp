#include "synergraph/diffusion/minimax_nodes.h"

#include <fmt/core.h>

#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {

std::vector<int> minimax_nodes(const FidelityOptions& options, int nodes) {
  const int sink = nodes - 1;
  const int count = options.nodes == FidelityNodes::kSources ? sink : nodes;
  if (options.from.empty()) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<int> chosen =
      options.from.places(nodes - options.first_token, option_mark("from_tokens"));
  for (int& node : chosen) node += options.first_token;
  if (chosen.back() >= count) chosen.pop_back();
  if (chosen.empty())
    throw InputError(
        fmt::format("{}: {} is the last token of a sequence, where information arrives; choose an "
                    "earlier one, or use {} all",
                    option_mark("from_tokens"), sink - options.first_token, option_mark("nodes")));
  return chosen;
}

}  // namespace synergraph
