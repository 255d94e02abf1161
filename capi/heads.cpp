#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/heads_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

int sg_attention_stack(sg_attention* attention, const char* options, const sg_call* call,
                       double* into, size_t count) {
  return guarded([&] {
    require(attention, "attention");
    auto settings = take_settings<SignalSettings>(options);
    const EdgeSettings& edges = settings.edges;
    StackSettings& through = settings.through;
    through.stack = true;
    through.check(edges);
    const MeasuredEdges source(*attention, edges);
    const LayerWeights weights = through.method == StackMethod::kRollout
                                     ? uniform_weights(source->layers())
                                     : attention->layer_weights(edges);
    if (weights.empty()) throw InputError("there are no layers to measure");
    const AttentionLayer& first = source->layers().front();
    require_buffer(into, count, {first.samples, first.nodes()});
    StackOptions stack = through.options();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = execution;
      for (const Stack& sample : analyse_stack(*source, weights, stack).each)
        into = std::copy(stack.flow ? sample.flow.begin() : sample.signal.begin(),
                         stack.flow ? sample.flow.end() : sample.signal.end(), into);
    });
  });
}

int sg_heads(sg_attention* attention, const char* options, const sg_call* call,
             sg_result** result) {
  return making(result, [&] {
    require(attention, "attention");
    const auto settings = take_settings<HeadsSettings>(options);
    HeadValueOptions head_values = settings.value_options(!attention->head_names.empty());
    const EdgeSettings& edges = settings.edges;
    const StackSettings& through = settings.through;
    through.check(edges);
    const LossOfHeadsOptions loss = settings.loss.options();
    StackOptions stack = through.options(settings.metrics.from);
    const LayerWeights weights = attention->layer_weights(edges);
    if (weights.empty()) throw InputError("there are no layers to measure");
    require_losses(*attention->source, loss.choice);

    HeadsReport report;
    report.verbose = settings.text.verbose;
    report.convention = settings.metrics.convention.names.front();
    const MeasuredEdges source(*attention, edges);
    if (through.follow) stack.token = followed_node(source->layers(), *through.follow);
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = head_values.execution = execution;
      if (through.stack)
        report.stack = analyse_stack(
            *source,
            through.method == StackMethod::kRollout ? uniform_weights(source->layers()) : weights,
            stack);
      report.head_values = value_heads(*source, weights, head_values);
      if (!edges.moved()) report.moved = moved_shares(*attention->source, execution);
      report.loss = losses_of_heads(*attention->source, report.head_values, loss, execution);
    });
    attention->describe(report, edges);
    report.head_names = attention->head_names;
    report.token_names = attention->token_names;
    return new sg_result(std::move(report));
  });
}
