#include "synergraph/analysis/stack_analysis.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/visit_systems.h"

namespace synergraph {
namespace {

void require_stack(const std::vector<AttentionLayer>& layers) {
  for (const AttentionLayer& layer : layers) {
    if (!layer.same_length)
      throw InputError(fmt::format(
          "layer {}: its samples differ in their numbers of tokens: no stack over them. "
          "Choose samples of one length, or one sink with {}",
          layer.name, option_mark("sink")));
    if (layer.tokens != layers.front().tokens || layer.samples != layers.front().samples)
      throw InputError(fmt::format(
          "layer {} has {} tokens and {} samples, layer {} {} and {}: no stack of layers",
          layer.name, layer.tokens, layer.samples, layers.front().name, layers.front().tokens,
          layers.front().samples));
  }
}

Stack measure_sample(VisitedSample& sample, const LayerWeights& weights, StackOptions options) {
  options.execution = sample.execution();
  Stack stack;
  if (sample.separate()) {
    sample.visit_together([&](std::span<HeadSource* const> layers) {
      stack = measure_stack(layers, weights, options);
    });
    return stack;
  }
  StackMeasurement measurement(options);
  sample.visit([&](int layer, HeadSource& heads) {
    measurement.add(heads, weights[static_cast<std::size_t>(layer)]);
  });
  sample.visit([&](int, HeadSource& heads) { measurement.follow(heads); });
  return measurement.take();
}

/// The estimate of a number that every one of these stacks has.
template <class Number>
Estimate over(const std::vector<const Stack*>& stacks, const Number& number) {
  std::vector<double> values;
  values.reserve(stacks.size());
  for (const Stack* stack : stacks) values.push_back(number(*stack));
  return estimate(values);
}

/// Of every layer, what these stacks say.
std::vector<LayerFlow> flows_over(const std::vector<const Stack*>& stacks,
                                  const std::vector<AttentionLayer>& layers,
                                  std::vector<StackLayerPath> Stack::*paths) {
  std::vector<LayerFlow> flows;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    LayerFlow& flow = flows.emplace_back();
    flow.residual = over(stacks, [&](const Stack& stack) { return (stack.*paths)[l].residual; });
    for (int h = 0; h < layers[l].heads; ++h)
      flow.heads.push_back(over(stacks, [&](const Stack& stack) {
        return (stack.*paths)[l].heads[static_cast<std::size_t>(h)];
      }));
  }
  return flows;
}

}  // namespace

void finish_stack(StackAnalysis& analysis) {
  std::vector<const Stack*> all;
  std::vector<const Stack*> heard;  // the followed token has a signal
  for (const Stack& stack : analysis.each) {
    all.push_back(&stack);
    if (!std::isnan(stack.layers.front().residual)) heard.push_back(&stack);
    ++analysis.weakest[static_cast<std::size_t>(stack.weakest)];
  }
  analysis.without_signal = analysis.samples - static_cast<int>(heard.size());
  analysis.fidelity = over(all, [](const Stack& stack) { return stack.fidelity; });
  analysis.effective_tokens = over(all, [](const Stack& stack) { return stack.effective_tokens; });
  for (std::size_t j = 0; j < analysis.weakest.size(); ++j)
    analysis.signal.push_back(over(all, [&](const Stack& stack) { return stack.signal[j]; }));
  for (std::size_t j = 0; j < all.front()->flow.size(); ++j)
    analysis.flow.push_back(over(all, [&](const Stack& stack) { return stack.flow[j]; }));
  analysis.measured_residual = all.front()->measured_residual;
  analysis.shares = flows_over(all, analysis.layers, &Stack::shares);
  if (!heard.empty()) analysis.flows = flows_over(heard, analysis.layers, &Stack::layers);
}

int followed_node(const std::vector<AttentionLayer>& layers, std::int64_t token) {
  if (layers.empty()) throw InputError("there are no layers to measure");
  const AttentionLayer& first = layers.front();
  if (token < 0 || token >= first.tokens)
    throw InputError(fmt::format("{}: token {} was asked for, there are 0:{}",
                                 option_mark("follow"), token, first.tokens));
  return static_cast<int>(token) + first.nodes() - first.tokens;
}

StackAnalysis begin_stack(const AttentionSource& source, const LayerWeights& weights,
                          const StackOptions& options) {
  const std::vector<AttentionLayer>& layers = source.layers();
  require_weights(layers, weights);
  require_stack(layers);
  StackAnalysis analysis;
  analysis.options = options;
  analysis.options.first_token = extra_nodes(layers.front().missing_mass);
  if (!options.from.empty())
    (void)options.from.places(layers.front().tokens, option_mark("from_tokens"));
  analysis.layers = layers;
  analysis.samples = layers.front().samples;
  analysis.weakest.resize(static_cast<std::size_t>(layers.front().nodes()));
  analysis.each.resize(static_cast<std::size_t>(analysis.samples));
  return analysis;
}

void measure_stacks(AttentionSource& source, const LayerWeights& weights,
                    const std::vector<SampleRange>& ranges, StackAnalysis& analysis) {
  visit_samples(source, {ranges, {}, analysis.options.execution}, [&](VisitedSample& sample) {
    analysis.each[static_cast<std::size_t>(sample.sample())] =
        measure_sample(sample, weights, analysis.options);
  });
}

StackAnalysis analyse_stack(AttentionSource& source, const LayerWeights& weights,
                            const StackOptions& options) {
  StackAnalysis analysis = begin_stack(source, weights, options);
  measure_stacks(source, weights, {{0, analysis.samples}}, analysis);
  finish_stack(analysis);
  return analysis;
}

}  // namespace synergraph
