#include <fmt/core.h>

#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/head_importance.h"
#include "synergraph/analysis/importance_settings.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/importance_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

int sg_heads(sg_attention* attention, const char* options, const sg_call* call,
             sg_result** result) {
  return making(result, [&] {
    require(attention, "attention");
    Options given(options);
    const MetricsChoice choice =
        take_metrics(given, attention->head_names.empty() ? convention_options : graph_options);
    ImportanceOptions importance;
    visit_settings(importance, TakeSettings{given});
    importance.values = ordered_values(importance.values);
    StackSettings through;
    visit_settings(through, TakeSettings{given});
    given.finish();
    through.check([](const char* key) { return key; });
    StackOptions stack;
    stack.residual = through.residual.value_or(stack.residual);
    const LayerWeights weights = attention->layer_weights();
    if (weights.empty()) throw InputError("there are no layers to measure");
    if (through.follow) stack.token = followed_node(attention->source->layers(), *through.follow);

    ImportanceReport report;
    report.convention = choice.names.front();
    importance.convention = choice.conventions.front();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = importance.execution = execution;
      if (through.stack) report.stack = analyse_stack(*attention->source, weights, stack);
      report.importance = head_importance(*attention->source, weights, importance);
    });
    attention->describe(report);
    report.head_names = attention->head_names;
    report.token_names = attention->token_names;
    return new sg_result(std::move(report));
  });
}
