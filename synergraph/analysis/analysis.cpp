#include "synergraph/analysis/analysis.h"

#include <algorithm>
#include <mutex>

#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

// The powers of slow walks, of all samples that are measured at the same time.
constexpr double kPowersBytes = 640 << 20;

}  // namespace

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  Analysis analysis{source.layers(), std::move(weights), options.conventions, {}};
  std::uint64_t heads = 0;
  for (const AttentionLayer& layer : analysis.layers)
    heads += static_cast<std::uint64_t>(layer.samples) * static_cast<std::uint64_t>(layer.heads);
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.samples.emplace_back();
    for (const AttentionLayer& layer : analysis.layers)
      layers.emplace_back(static_cast<std::size_t>(layer.samples));
  }

  Progress progress("heads", heads, 0, options.execution.progress);
  std::mutex progress_mutex;
  std::uint64_t done = 0;
  const int threads = options.execution.thread_count();
  const int at_once = source.samples_at_once(threads);
  MeasureOptions sample_options;
  sample_options.threads = std::max(1, threads / at_once);
  for (MetricsOptions convention : options.conventions) {
    convention.walk.threads = convention.fidelity.threads = sample_options.threads;
    convention.walk.memory = convention.fidelity.memory = kPowersBytes / at_once;
    sample_options.conventions.push_back(std::move(convention));
  }
  sample_options.head_done = [&] {
    const std::lock_guard lock(progress_mutex);
    progress.update(++done, "");
  };
  source.for_each(threads, [&](int layer, int sample, int /*worker*/, SampleHeads& sample_heads) {
    options.execution.check();
    const auto l = static_cast<std::size_t>(layer);
    std::vector<HeadsMetrics> measured = measure(sample_heads, analysis.weights[l], sample_options);
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
