#include "synergraph/heads/metrics_engine.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// Convex, every list of them.
std::vector<double> checked_weights(const BatchLayer& layer) {
  const AttentionView& view = layer.view;
  const std::vector<double>& weights = layer.weights;
  const auto heads = static_cast<std::size_t>(view.heads);
  if (weights.empty()) return convex_weights(std::vector<double>(heads, 1.0), heads);
  const std::size_t lists = weights.size() == heads ? 1 : static_cast<std::size_t>(view.samples);
  if (weights.size() % heads != 0 || weights.size() / heads != lists)
    throw InputError(
        fmt::format("{} weights for {} heads of {} samples: expected one a head, {}, or one a head "
                    "of every sample",
                    weights.size(), view.heads, view.samples, view.heads));
  std::vector<double> checked;
  for (std::size_t list = 0; list < lists; ++list) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(list * heads);
    try {
      const std::vector<double> convex =
          convex_weights({begin, begin + static_cast<std::ptrdiff_t>(heads)}, heads);
      checked.insert(checked.end(), convex.begin(), convex.end());
    } catch (const InputError& error) {
      if (lists == 1) throw;
      throw InputError(fmt::format("sample {}: {}", list, error.what()));
    }
  }
  return checked;
}

}  // namespace

std::vector<double> BatchLayer::weights_of(std::int64_t sample) const {
  const auto heads = static_cast<std::ptrdiff_t>(view.heads);
  const bool shared = weights.size() == static_cast<std::size_t>(heads);
  const auto begin = weights.begin() + (shared ? 0 : static_cast<std::ptrdiff_t>(sample) * heads);
  return {begin, begin + heads};
}

void Batch::in_layer(const BatchLayer& layer, const std::function<void()>& body) const {
  try {
    body();
  } catch (const InputError& error) {
    if (layers.size() == 1) throw;
    throw InputError(fmt::format("layer {}, {}", layer.name, error.what()));
  }
}

void check_layer(const BatchLayer& layer) {
  AttentionView view = layer.view;
  if (layer.fetch) view = attention_view(&layer, view.type, view.samples, view.heads, view.tokens);
  check_view(view);
}

void check_sequence(const TokenSpan& sequence, const AttentionView& view) {
  if (sequence.sample < 0 || sequence.sample >= view.samples)
    throw InputError(
        fmt::format("sample {} was asked for, there are 0:{}", sequence.sample, view.samples));
  if (sequence.begin < 0 || sequence.begin >= sequence.end || sequence.end > view.tokens)
    throw InputError(fmt::format("sample {}: tokens {}:{} were asked for, it has 0:{}",
                                 sequence.sample, sequence.begin, sequence.end, view.tokens));
}

void check_rows(std::optional<double> row_tolerance, MissingMass missing_mass) {
  if (row_tolerance && !(*row_tolerance >= 0.0))
    throw InputError(
        fmt::format("row tolerance {} is not a positive number or zero", *row_tolerance));
  require_named("missing mass", missing_mass);
}

BatchMetrics MetricsEngine::measure(const AttentionView& attention, std::span<const double> weights,
                                    const BatchOptions& options) const {
  return measure(Batch{{{attention, {weights.begin(), weights.end()}}}, options});
}

BatchMetrics MetricsEngine::measure(Batch batch) const {
  const auto layers = static_cast<std::int64_t>(batch.layers.size());
  if (layers == 0) throw InputError("there are no layers to measure");
  BatchOptions& options = batch.options;
  for (std::int64_t l = 0; l < layers; ++l) {
    BatchLayer& layer = batch.layers[static_cast<std::size_t>(l)];
    if (layer.name.empty()) layer.name = fmt::format("{}", l);
    batch.in_layer(layer, [&] {
      check_layer(layer);
      layer.weights = checked_weights(layer);
    });
  }
  check_conventions(options.conventions);
  check_rows(options.row_tolerance, options.missing_mass);
  for (const TokenSpan& sequence : options.sequences) {
    if (sequence.layer < 0 || sequence.layer >= layers)
      throw InputError(
          fmt::format("layer {} was asked for, there are 0:{}", sequence.layer, layers));
    const BatchLayer& layer = batch.layer_of(sequence);
    batch.in_layer(layer, [&] { check_sequence(sequence, layer.view); });
  }
  if (options.sequences.empty())
    for (std::int64_t l = 0; l < layers; ++l) {
      const AttentionView& view = batch.layers[static_cast<std::size_t>(l)].view;
      for (std::int64_t sample = 0; sample < view.samples; ++sample)
        options.sequences.push_back({sample, 0, view.tokens, l});
    }
  return measure_batch(batch);
}

}  // namespace synergraph
