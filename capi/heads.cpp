#include <fmt/core.h>

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

int sg_heads(sg_attention* attention, const char* options, const sg_call* call,
             sg_result** result) {
  return making(result, [&] {
    require(attention, "attention");
    auto settings = take_settings<HeadsSettings>(options);
    HeadValueOptions& head_values = settings.head_values;
    head_values.values = ordered_values(head_values.values);
    const StackSettings& through = settings.through;
    through.check();
    StackOptions stack;
    stack.residual = through.residual.value_or(stack.residual);
    const LayerWeights weights = attention->layer_weights();
    if (weights.empty()) throw InputError("there are no layers to measure");
    if (through.follow) stack.token = followed_node(attention->source->layers(), *through.follow);

    HeadsReport report;
    report.convention = settings.metrics.convention.names.front();
    head_values.convention = settings.metrics.resolve(
        report.convention, attention->head_names.empty() ? convention_options : graph_options);
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = head_values.execution = execution;
      if (through.stack) report.stack = analyse_stack(*attention->source, weights, stack);
      report.head_values = value_heads(*attention->source, weights, head_values);
    });
    attention->describe(report);
    report.head_names = attention->head_names;
    report.token_names = attention->token_names;
    return new sg_result(std::move(report));
  });
}
