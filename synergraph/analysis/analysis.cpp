#include "synergraph/analysis/analysis.h"

#include <mutex>
#include <utility>

#include "synergraph/analysis/visit_samples.h"
#include "synergraph/core/error.h"

namespace synergraph {

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  require_weights(source.layers(), weights);
  if (source.layers().empty()) throw InputError("there are no layers to measure");
  if (options.conventions.empty()) throw UsageError("no convention to measure by");
  Analysis analysis{source.layers(), std::move(weights), options.conventions, {}};
  std::uint64_t count = 0;
  for (const AttentionLayer& layer : analysis.layers)
    count += static_cast<std::uint64_t>(layer.samples) * static_cast<std::uint64_t>(layer.heads);
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.samples.emplace_back();
    for (const AttentionLayer& layer : analysis.layers)
      layers.emplace_back(static_cast<std::size_t>(layer.samples));
  }

  Progress progress("heads", count, 0, options.execution.progress);
  std::mutex progress_mutex;
  std::uint64_t done = 0;
  const std::vector<AttentionPiece> pieces = source.pieces(0, most_samples(analysis.layers));
  const SideBySide way = side_by_side(analysis.layers, pieces.size(), options.execution);
  MeasureOptions sample_options;
  sample_options.conventions = options.conventions;
  sample_options.nodes = options.nodes;
  sample_options.execution = way.each;
  sample_options.head_done = [&] {
    const std::lock_guard lock(progress_mutex);
    progress.update(++done, "");
  };
  visit_samples(source, pieces, way, [&](int layer, int sample, HeadSource& heads) {
    const auto l = static_cast<std::size_t>(layer);
    auto measured = measure(heads, analysis.weights[l], sample_options);
    for (std::size_t c = 0; c < measured.size(); ++c)
      analysis.samples[c][l][static_cast<std::size_t>(sample)] = std::move(measured[c]);
  });
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.summaries.emplace_back();
    for (const std::vector<HeadsMetrics>& samples : analysis.samples[c])
      layers.push_back(summarise_layer(samples, options.conventions[c].walk.eps));
  }
  return analysis;
}

}  // namespace synergraph
