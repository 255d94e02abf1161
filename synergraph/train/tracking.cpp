#include "synergraph/train/tracking.h"

#include <algorithm>

#include "synergraph/heads/measure_systems.h"
#include "synergraph/model/evaluate.h"

namespace synergraph {

std::vector<LayerTrack> track_layers(const Model& model, const Sequences& inputs, int samples,
                                     const Execution& execution) {
  samples = std::min(samples, inputs.count);
  const auto layers = static_cast<std::size_t>(model.config().layers);
  Sequences chosen{samples, inputs.length, {inputs.row(0), inputs.row(samples)}};
  std::vector<std::vector<double>> weights;
  weights.reserve(layers);
  for (int layer = 0; layer < model.config().layers; ++layer)
    weights.push_back(learned_head_weights(model, layer));

  BatchOptions measuring;
  measuring.conventions.front().per_head_walks = false;
  measuring.row_tolerance = 1e-3;
  measuring.execution = execution.part(1);
  std::vector<HeadsMetrics> each(layers * static_cast<std::size_t>(samples));
  EvaluateOptions options;
  options.execution = execution.part(execution.threads);
  options.attention = [&](const SampleAttention& attention) {
    const auto layer = static_cast<std::size_t>(attention.layer);
    each[static_cast<std::size_t>(attention.sample) * layers + layer] =
        std::move(measure(attention_view(attention.values, 1, attention.heads, attention.length),
                          weights[layer], measuring)
                      .sequences.front()
                      .front());
  };
  evaluate(model, chosen, chosen, options);

  std::vector<LayerTrack> means(layers);
  for (std::size_t k = 0; k < each.size(); ++k)
    for (const auto& [key, quantity] : kTrackedQuantities)
      means[k % layers][quantity] +=
          value_of(quantity, each[k], measuring.conventions.front().walk.eps) / samples;
  return means;
}

}  // namespace synergraph
