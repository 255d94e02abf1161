#include "synergraph/train/tracking.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/graph/attention.h"
#include "synergraph/heads/measure.h"
#include "synergraph/model/evaluate.h"

namespace synergraph {
namespace {

std::vector<Head> heads_of(const SampleAttention& attention) {
  std::vector<Head> heads;
  heads.reserve(static_cast<std::size_t>(attention.heads));
  for (int h = 0; h < attention.heads; ++h) {
    const View<const float> values = attention.head(h);
    Matrix matrix(attention.length, attention.length);
    for (int i = 0; i < attention.length; ++i)
      for (int j = 0; j <= i; ++j) matrix(i, j) = values(i, j);
    std::string name =
        fmt::format("layer {}, sample {}, head {}", attention.layer + 1, attention.sample, h);
    normalise_attention(matrix.view(), {.row_tolerance = 1e-3, .name = name});
    heads.push_back(head_of_attention(std::move(name), std::move(matrix)));
  }
  return heads;
}

LayerTrack measure(const SampleAttention& attention, const std::vector<double>& weights) {
  MetricsOptions options = convention_options(Convention::kExact);
  options.per_head_walks = false;
  const HeadsMetrics metrics = measure_heads(heads_of(attention), weights, options, {.threads = 1});
  return {metrics.combined.walk.mixing.at(0), metrics.combined.walk.hitting.mean,
          metrics.combined.walk.truncated.mean, metrics.combined.fidelity.minimax,
          metrics.synergy.best_head_fidelity};
}

}  // namespace

std::vector<LayerTrack> track_layers(const Model& model, const Sequences& inputs, int samples,
                                     const Execution& execution) {
  samples = std::min(samples, inputs.count);
  const auto layers = static_cast<std::size_t>(model.config().layers);
  Sequences chosen{samples, inputs.length, {inputs.row(0), inputs.row(samples)}};
  std::vector<std::vector<double>> weights;
  weights.reserve(layers);
  for (int layer = 0; layer < model.config().layers; ++layer)
    weights.push_back(learned_head_weights(model, layer));

  std::vector<LayerTrack> each(layers * static_cast<std::size_t>(samples));
  EvaluateOptions options;
  options.execution = execution;
  options.attention = [&](const SampleAttention& attention) {
    const auto layer = static_cast<std::size_t>(attention.layer);
    each[static_cast<std::size_t>(attention.sample) * layers + layer] =
        measure(attention, weights[layer]);
  };
  evaluate(model, chosen, chosen, options);

  std::vector<LayerTrack> means(layers);
  for (std::size_t k = 0; k < each.size(); ++k) {
    LayerTrack& mean = means[k % layers];
    mean.mixing_time += each[k].mixing_time / samples;
    mean.hitting_time += each[k].hitting_time / samples;
    mean.truncated_time += each[k].truncated_time / samples;
    mean.fidelity += each[k].fidelity / samples;
    mean.best_head_fidelity += each[k].best_head_fidelity / samples;
  }
  return means;
}

}  // namespace synergraph
