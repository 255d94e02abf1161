#include "synergraph/analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/analysis/metrics_archive.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// An analysis in the making.
class SampleAnalysis {
 public:
  SampleAnalysis(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options)
      : source_(source), options_(options) {
    require_weights(source.layers(), weights);
    if (source.layers().empty()) throw InputError("there are no layers to measure");
    check_conventions(options.conventions);
    analysis_ = {source.layers(), std::move(weights), options.conventions, {}};
    for (MetricsOptions& convention : analysis_.conventions)
      place_sources(convention.fidelity, analysis_.layers);
    for (std::size_t c = 0; c < options.conventions.size(); ++c) {
      auto& layers = analysis_.samples.emplace_back();
      for (const AttentionLayer& layer : analysis_.layers)
        layers.emplace_back(static_cast<std::size_t>(layer.samples));
    }
  }

  void measure(const std::vector<SampleRange>& ranges, const ProgressOptions& progress) {
    MeasureOptions measuring{analysis_.conventions, options_.nodes, options_.execution};
    measuring.execution.progress = progress;
    measure_systems(
        source_, ranges,
        [this](int layer, int) { return analysis_.weights[static_cast<std::size_t>(layer)]; },
        measuring,
        [this](int layer, int sample, std::vector<HeadsMetrics> measured) {
          for (std::size_t c = 0; c < measured.size(); ++c)
            analysis_
                .samples[c][static_cast<std::size_t>(layer)][static_cast<std::size_t>(sample)] =
                std::move(measured[c]);
        });
  }

  /// Calls visit(metrics) for all that was measured on the samples of a range.
  template <class Visit>
  void visit_range(const SampleRange& range, const Visit& visit) {
    for (auto& layers : analysis_.samples)
      for (auto& samples : layers)
        for (int s = range.begin; s < std::min(range.end, static_cast<int>(samples.size())); ++s)
          visit(samples[static_cast<std::size_t>(s)]);
  }

  /// The means over samples of what heads move, as the weights of the layers.
  void set_moved_weights() {
    for (std::size_t l = 0; l < analysis_.layers.size(); ++l) {
      const std::vector<HeadsMetrics>& samples = analysis_.samples.front()[l];
      if (samples.empty() || samples.front().moved_shares.empty()) continue;
      std::vector<double>& weights = analysis_.weights[l];
      std::fill(weights.begin(), weights.end(), 0.0);
      for (const HeadsMetrics& sample : samples)
        for (std::size_t h = 0; h < weights.size(); ++h)
          weights[h] += sample.moved_shares[h] / static_cast<double>(samples.size());
    }
  }

  Analysis finish() {
    set_moved_weights();
    for (std::size_t c = 0; c < options_.conventions.size(); ++c) {
      auto& layers = analysis_.summaries.emplace_back();
      for (std::size_t l = 0; l < analysis_.layers.size(); ++l)
        layers.push_back(summarise_layer(analysis_.samples[c][l], options_.conventions[c].walk.eps,
                                         analysis_.layers[l].sinks));
    }
    return std::move(analysis_);
  }

 private:
  AttentionSource& source_;
  const AnalysisOptions& options_;
  Analysis analysis_;
};

}  // namespace

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  SampleAnalysis samples(source, std::move(weights), options);
  samples.measure({{0, source.most_samples()}}, options.execution.progress);
  return samples.finish();
}

SharedEnd analyse_shared(AttentionSource& source, LayerWeights weights,
                         const AnalysisOptions& options, const SharedSamples& how,
                         const std::function<void(Analysis)>& finish) {
  SampleAnalysis samples(source, std::move(weights), options);
  SampleWork work;
  work.cost = 0.0;
  for (const AttentionLayer& layer : source.layers())
    work.cost += 1e-9 * (5.0 * layer.heads + 9.0) * std::pow(layer.nodes(), 3);
  work.measure = [&](const std::vector<SampleRange>& ranges) { samples.measure(ranges, {}); };
  work.take = [&](const SampleRange& range) {
    PartWriter part;
    archive_knowledge(part, source, range);
    samples.visit_range(range, [&](HeadsMetrics& metrics) { part(std::exchange(metrics, {})); });
    return part.take();
  };
  work.restore = [&](const SampleRange& range, std::string_view bytes) {
    PartReader part(bytes);
    archive_knowledge(part, source, range);
    samples.visit_range(range, [&](HeadsMetrics& metrics) { part(metrics); });
  };
  work.finish = [&] { finish(samples.finish()); };
  return share_samples(how, source.most_samples(), options.execution, work);
}

}  // namespace synergraph
