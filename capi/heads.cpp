#include <fmt/core.h>

#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/options.h"
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
    Options given(options);
    const MetricsChoice choice =
        take_metrics(given, attention->head_names.empty() ? convention_options : graph_options);
    HeadValueOptions head_values;
    visit_settings(head_values, TakeSettings{given});
    head_values.values = ordered_values(head_values.values);
    LossSettings loss;
    visit_settings(loss, TakeSettings{given});
    HeadTextSettings text;
    visit_settings(text, TakeSettings{given});
    StackSettings through;
    visit_settings(through, TakeSettings{given});
    given.finish();
    through.check([](const char* key) { return key; });
    StackOptions stack;
    stack.residual = through.residual.value_or(stack.residual);
    const LayerWeights weights = attention->layer_weights();
    if (weights.empty()) throw InputError("there are no layers to measure");
    if (through.follow) stack.token = followed_node(attention->source->layers(), *through.follow);

    HeadsReport report;
    report.verbose = text.verbose;
    report.convention = choice.names.front();
    head_values.convention = choice.conventions.front();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = head_values.execution = execution;
      if (through.stack) report.stack = analyse_stack(*attention->source, weights, stack);
      report.head_values = value_heads(*attention->source, weights, head_values);
      report.loss = losses_of_heads(*attention->source, report.head_values.layer_values,
                                    loss.choice(), execution);
    });
    attention->describe(report);
    report.head_names = attention->head_names;
    report.token_names = attention->token_names;
    return new sg_result(std::move(report));
  });
}
