#include "synergraph/gradients/differentiable_metric.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "synergraph/core/error.h"

namespace synergraph {

std::vector<int> Sinks::of(int nodes) const {
  std::vector<int> found = positions;
  if (all) {
    found.resize(static_cast<std::size_t>(nodes));
    std::iota(found.begin(), found.end(), 0);
  }
  if (found.empty()) found.push_back(nodes - 1);
  for (int& position : found)
    if (position < 0) position += nodes;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.front() < 0 || found.back() >= nodes)
    throw InputError(fmt::format("sinks: position {} is not one of the tokens 0 to {}",
                                 found.front() < 0 ? found.front() - nodes : found.back(),
                                 nodes - 1));
  return found;
}

}  // namespace synergraph
