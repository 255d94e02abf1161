#include "synergraph/analysis/analysis.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "synergraph/analysis/metrics_archive.h"
#include "synergraph/core/error.h"
#include "synergraph/device/measure_on_device.h"
#include "synergraph/heads/view_source.h"

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
    const MeasuringDevice device = choose_device(ranges);
    const MeasuredOn measured_on = measure_systems_on(
        device, source_, ranges,
        [this](int layer, int) { return analysis_.weights[static_cast<std::size_t>(layer)]; },
        measuring,
        [this](int layer, int sample, std::vector<HeadsMetrics> measured) {
          for (std::size_t c = 0; c < measured.size(); ++c)
            analysis_
                .samples[c][static_cast<std::size_t>(layer)][static_cast<std::size_t>(sample)] =
                std::move(measured[c]);
        });
    analysis_.measured_on = measured_on.text(device);
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
                                         analysis_.layers[l].sinks,
                                         options_.conventions[c].backward));
    }
    return std::move(analysis_);
  }

 private:
  /// The device for the samples of these ranges.
  MeasuringDevice choose_device(const std::vector<SampleRange>& ranges) const {
    double seconds = 0.0;
    for (const AttentionLayer& layer : analysis_.layers)
      for (const SampleRange& range : ranges)
        seconds +=
            std::max(0, std::min(range.end, layer.samples) - range.begin) * cpu_seconds(layer);
    if (const auto* views = dynamic_cast<const ViewSource*>(&source_))
      for (int layer = 0; layer < static_cast<int>(analysis_.layers.size()); ++layer)
        if (views->memory(layer).place) seconds = std::numeric_limits<double>::infinity();
    return choose_measuring_device({options_.device, options_.device_optional, options_.worker},
                                   seconds);
  }

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
  for (const AttentionLayer& layer : source.layers()) work.cost += cpu_seconds(layer);
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
