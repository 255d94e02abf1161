#include "synergraph/analysis/moved_shares.h"

#include <algorithm>
#include <cstddef>

#include "synergraph/heads/edges.h"
#include "synergraph/heads/visit_systems.h"

namespace synergraph {

std::optional<MovedShares> moved_shares(AttentionSource& source, const Execution& execution) {
  const auto* model = dynamic_cast<const ModelAttention*>(&source);
  if (model == nullptr || !model->knows_moved()) return std::nullopt;
  EdgeSource edges(source, EdgeKind::kContribution);
  const std::vector<AttentionLayer>& layers = edges.layers();
  const int samples = std::min(source.most_samples(), kMovedSamples);
  // By layer and sample, so that the sums do not depend on the order of the visits.
  std::vector<std::vector<std::vector<double>>> each(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l)
    each[l].resize(static_cast<std::size_t>(std::min(samples, layers[l].samples)));
  SystemVisit visit;
  visit.samples = {{0, samples}};
  visit.execution = execution;
  visit.execution.progress = {};
  visit_systems(edges, visit, [&](const VisitedSystem& system) {
    const RowShares& shares = *system.heads.row_shares();
    const int nodes = system.heads.nodes();
    std::vector<double>& means =
        each[static_cast<std::size_t>(system.layer)][static_cast<std::size_t>(system.sample)];
    for (int h = 0; h < system.heads.heads(); ++h) {
      double sum = 0.0;
      for (int i = 0; i < nodes; ++i)
        sum += shares.heads(h, i) * shares.moved[static_cast<std::size_t>(i)];
      means.push_back(sum / nodes);
    }
  });
  MovedShares result;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<double>& means = result.emplace_back(static_cast<std::size_t>(layers[l].heads));
    for (const std::vector<double>& sample : each[l])
      for (std::size_t h = 0; h < sample.size(); ++h)
        means[h] += sample[h] / static_cast<double>(each[l].size());
  }
  return result;
}

}  // namespace synergraph
