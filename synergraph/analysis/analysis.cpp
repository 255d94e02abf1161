#include "synergraph/analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/analysis/metrics_archive.h"
#include "synergraph/analysis/visit_samples.h"
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
    for (std::size_t c = 0; c < options.conventions.size(); ++c) {
      auto& layers = analysis_.samples.emplace_back();
      for (const AttentionLayer& layer : analysis_.layers)
        layers.emplace_back(static_cast<std::size_t>(layer.samples));
    }
  }

  void measure(const std::vector<SampleRange>& ranges, const ProgressOptions& progress) {
    const std::vector<AttentionPiece> pieces = pieces_of(source_, ranges);
    if (pieces.empty()) return;
    if (std::optional<Batch> batch = source_.batch(pieces))
      measure_batch(pieces, std::move(*batch), progress);
    else
      visit(pieces, progress);
  }

  /// Calls visit(metrics) for all that was measured on the samples of a range.
  template <class Visit>
  void visit_range(const SampleRange& range, const Visit& visit) {
    for (auto& layers : analysis_.samples)
      for (auto& samples : layers)
        for (int s = range.begin; s < std::min(range.end, static_cast<int>(samples.size())); ++s)
          visit(samples[static_cast<std::size_t>(s)]);
  }

  Analysis finish() {
    for (std::size_t c = 0; c < options_.conventions.size(); ++c) {
      auto& layers = analysis_.summaries.emplace_back();
      for (const std::vector<HeadsMetrics>& samples : analysis_.samples[c])
        layers.push_back(summarise_layer(samples, options_.conventions[c].walk.eps));
    }
    return std::move(analysis_);
  }

 private:
  void measure_batch(const std::vector<AttentionPiece>& pieces, Batch batch,
                     const ProgressOptions& progress) {
    for (std::size_t l = 0; l < batch.layers.size(); ++l)
      batch.layers[l].weights = analysis_.weights[l];
    batch.options.conventions = options_.conventions;
    batch.options.nodes = options_.nodes;
    batch.options.execution = options_.execution;
    batch.options.execution.progress = progress;
    BatchMetrics measured = options_.engine->measure(std::move(batch));
    for (std::size_t c = 0; c < measured.sequences.size(); ++c)
      for (std::size_t k = 0; k < pieces.size(); ++k)
        sample_of(c, pieces[k].layer, pieces[k].sample) = std::move(measured.sequences[c][k]);
  }

  void visit(const std::vector<AttentionPiece>& pieces, const ProgressOptions& options) {
    std::uint64_t heads = 0;
    for (const AttentionPiece& piece : pieces)
      for (int l = 0; l < static_cast<int>(analysis_.layers.size()); ++l)
        if (piece.layer == AttentionPiece::kAllLayers || piece.layer == l)
          heads += static_cast<std::uint64_t>(analysis_.layers[static_cast<std::size_t>(l)].heads);
    Progress progress("heads", heads, 0, options);
    const SideBySide way = side_by_side(analysis_.layers, pieces.size(), options_.execution);
    MeasureOptions each;
    each.conventions = options_.conventions;
    each.nodes = options_.nodes;
    each.execution = way.each;
    each.head_done = [&] { progress.add(1); };
    visit_samples(source_, pieces, way, [&](int layer, int sample, HeadSource& source) {
      auto measured =
          synergraph::measure(source, analysis_.weights[static_cast<std::size_t>(layer)], each);
      for (std::size_t c = 0; c < measured.size(); ++c)
        sample_of(c, layer, sample) = std::move(measured[c]);
    });
  }

  HeadsMetrics& sample_of(std::size_t convention, int layer, int sample) {
    return analysis_
        .samples[convention][static_cast<std::size_t>(layer)][static_cast<std::size_t>(sample)];
  }

  AttentionSource& source_;
  const AnalysisOptions& options_;
  Analysis analysis_;
};

}  // namespace

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  SampleAnalysis samples(source, std::move(weights), options);
  samples.measure({{0, most_samples(source.layers())}}, options.execution.progress);
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
  return share_samples(how, most_samples(source.layers()), options.execution, work);
}

}  // namespace synergraph
