#include "synergraph/analysis/stack_analysis.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <utility>

#include "synergraph/analysis/visit_samples.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

void require_stack(const std::vector<AttentionLayer>& layers) {
  for (const AttentionLayer& layer : layers) {
    if (!layer.same_length)
      throw InputError(
          fmt::format("layer {}: its samples differ in their numbers of tokens: no stack over them",
                      layer.name));
    if (layer.tokens != layers.front().tokens || layer.samples != layers.front().samples)
      throw InputError(fmt::format(
          "layer {} has {} tokens and {} samples, layer {} {} and {}: no stack of layers",
          layer.name, layer.tokens, layer.samples, layers.front().name, layers.front().tokens,
          layers.front().samples));
  }
}

/// One sample's stack, read layer by layer by as many readers, or by one that goes through all
/// layers, twice.
class StackReader {
 public:
  StackReader(AttentionSource& source, const LayerWeights& weights, const StackOptions& options,
              WorkingMemory memory)
      : source_(source), weights_(weights), options_(options), memory_(std::move(memory)) {}

  /// By one thread at a time.
  void open(int sample) {
    const std::vector<AttentionPiece> pieces = source_.pieces(sample, sample + 1);
    while (readers_.size() < pieces.size()) readers_.push_back(source_.reader(memory_));
    for (std::size_t k = 0; k < pieces.size(); ++k) readers_[k]->open(pieces[k]);
  }

  Stack measure() {
    if (readers_.size() == 1 && weights_.size() > 1) return measure_twice();
    sources_.assign(weights_.size(), nullptr);
    Stack stack;
    visit(0, [&] { stack = measure_stack(sources_, weights_, options_); });
    return stack;
  }

 private:
  Stack measure_twice() {
    StackMeasurement measurement(options_);
    readers_.front()->visit([&](int layer, HeadSource& heads) {
      measurement.add(heads, weights_[static_cast<std::size_t>(layer)]);
    });
    readers_.front()->visit([&](int, HeadSource& heads) { measurement.follow(heads); });
    return measurement.take();
  }

  /// Heads are valid during the visit: all visits last until the last one has done its work.
  void visit(std::size_t reader, const std::function<void()>& work) {
    if (reader == readers_.size()) return work();
    readers_[reader]->visit([&](int layer, HeadSource& heads) {
      sources_[static_cast<std::size_t>(layer)] = &heads;
      visit(reader + 1, work);
    });
  }

  AttentionSource& source_;
  const LayerWeights& weights_;
  const StackOptions& options_;
  WorkingMemory memory_;
  std::vector<std::unique_ptr<AttentionReader>> readers_;
  std::vector<HeadSource*> sources_;
};

/// The estimate of a number that every one of these stacks has.
template <class Number>
Estimate over(const std::vector<const Stack*>& stacks, const Number& number) {
  std::vector<double> values;
  values.reserve(stacks.size());
  for (const Stack* stack : stacks) values.push_back(number(*stack));
  return estimate(values);
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
  if (heard.empty()) return;
  for (std::size_t l = 0; l < analysis.layers.size(); ++l) {
    LayerFlow& flow = analysis.flows.emplace_back();
    flow.residual = over(heard, [&](const Stack& stack) { return stack.layers[l].residual; });
    for (int h = 0; h < analysis.layers[l].heads; ++h)
      flow.heads.push_back(over(heard, [&](const Stack& stack) {
        return stack.layers[l].heads[static_cast<std::size_t>(h)];
      }));
  }
}

int followed_node(const std::vector<AttentionLayer>& layers, std::int64_t token) {
  if (layers.empty()) throw InputError("there are no layers to measure");
  const AttentionLayer& first = layers.front();
  if (token < 0 || token >= first.tokens)
    throw InputError(
        fmt::format("--follow: token {} was asked for, there are 0:{}", token, first.tokens));
  return static_cast<int>(token) + first.nodes() - first.tokens;
}

StackAnalysis begin_stack(const AttentionSource& source, const LayerWeights& weights,
                          const StackOptions& options) {
  const std::vector<AttentionLayer>& layers = source.layers();
  require_weights(layers, weights);
  require_stack(layers);
  StackAnalysis analysis;
  analysis.options = options;
  analysis.layers = layers;
  analysis.samples = layers.front().samples;
  analysis.weakest.resize(static_cast<std::size_t>(layers.front().nodes()));
  analysis.each.resize(static_cast<std::size_t>(analysis.samples));
  return analysis;
}

void measure_stacks(AttentionSource& source, const LayerWeights& weights, const SampleRange& range,
                    StackAnalysis& analysis) {
  const auto count = static_cast<std::size_t>(range.end - range.begin);
  const Execution& execution = analysis.options.execution;
  const SideBySide way = side_by_side(analysis.layers, count, execution);
  StackOptions each = analysis.options;
  each.execution = way.each;
  std::vector<std::unique_ptr<StackReader>> readers(static_cast<std::size_t>(way.at_once));
  Turnstile opening;
  parallel_for(count, way.at_once, [&](std::size_t number, int worker) {
    const std::size_t sample = number + static_cast<std::size_t>(range.begin);
    auto& reader = readers[static_cast<std::size_t>(worker)];
    if (!reader) reader = std::make_unique<StackReader>(source, weights, each, way.memory);
    const bool good = opening.pass(number, [&] {
      execution.check();
      reader->open(static_cast<int>(sample));
    });
    if (good) analysis.each[sample] = reader->measure();
  });
}

StackAnalysis analyse_stack(AttentionSource& source, const LayerWeights& weights,
                            const StackOptions& options) {
  StackAnalysis analysis = begin_stack(source, weights, options);
  measure_stacks(source, weights, {0, analysis.samples}, analysis);
  finish_stack(analysis);
  return analysis;
}

}  // namespace synergraph
