#include <fmt/core.h>

#include <utility>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "synergraph/analysis/head_importance.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/report/importance_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

/// "values", "keep", "weight_samples", "exact_heads", "precision" and "orders".
void take_importance(Options& options, ImportanceOptions& importance) {
  if (const auto names = options.take_texts("values")) {
    std::vector<HeadValue> given;
    for (const std::string& name : *names) given.push_back(named_option<HeadValue>("values", name));
    importance.values = ordered_values(given);
  }
  importance.keep = options.take_number("keep", 0.0, 1.0).value_or(importance.keep);
  importance.weight_samples = static_cast<int>(
      options.take_count("weight_samples", 0, 1000000).value_or(importance.weight_samples));
  importance.exact_heads = static_cast<int>(
      options.take_count("exact_heads", 1, kMaxExactHeads).value_or(importance.exact_heads));
  SamplingOptions& sampling = importance.sampling;
  sampling.precision = options.take_number("precision", std::numeric_limits<double>::min(), 1.0)
                           .value_or(sampling.precision);
  sampling.max_permutations =
      options.take_count("orders", 1, 1000000000).value_or(sampling.max_permutations);
}

}  // namespace

int sg_heads(sg_attention* attention, const char* options, const sg_call* call,
             sg_result** result) {
  return making(result, [&] {
    require(attention, "attention");
    Options given(options);
    const MetricsChoice choice =
        take_metrics(given, attention->head_names.empty() ? convention_options : graph_options);
    ImportanceOptions importance;
    take_importance(given, importance);
    StackOptions stack;
    const bool with_stack = given.take_bool("stack").value_or(false);
    const auto residual = given.take_number("residual", 0.0, 1.0);
    const auto follow = given.take_count("follow", 0, std::numeric_limits<int>::max());
    given.finish();
    if (!with_stack && (residual || follow))
      throw UsageError("options: residual and follow go with stack");
    stack.residual = residual.value_or(stack.residual);
    const LayerWeights weights = attention->layer_weights();
    if (weights.empty()) throw InputError("there are no layers to measure");
    if (follow) stack.token = followed_node(attention->source->layers(), *follow);

    ImportanceReport report;
    report.convention = choice.names.front();
    importance.convention = choice.conventions.front();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      stack.execution = importance.execution = execution;
      if (with_stack) report.stack = analyse_stack(*attention->source, weights, stack);
      report.importance = head_importance(*attention->source, weights, importance);
    });
    attention->describe(report);
    report.head_names = attention->head_names;
    report.token_names = attention->token_names;
    return new sg_result(std::move(report));
  });
}
