#pragma once

#include <optional>
#include <string>

#include "synergraph/analysis/head_losses.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/core/error.h"
#include "synergraph/core/execution_settings.h"
#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/device/device_name.h"
#include "synergraph/heads/edges.h"
#include "synergraph/heads/metrics_settings.h"
#include "synergraph/heads/stack.h"

namespace synergraph {

/// See Setting. The convention is set by MetricsSettings.
template <class Visit>
void visit_settings(HeadValueOptions& options, Visit&& visit) {
  visit(
      Setting{"values", kMeasurementGroup,
              "value to measure for every set of heads: fidelity, speed or both (the program takes "
              "fidelity,speed)"},
      options.values);
  visit(Setting{"keep", kMeasurementGroup,
                "share of the value of all heads that the smallest subset keeps"},
        options.keep, NumberRange<double>{0.0, 1.0});
  visit(Setting{"weight_samples", kMeasurementGroup,
                "number of first samples used to search for the best weights, and for the best "
                "subsets of sampled layers; 0: no search for weights"},
        options.weight_samples, NumberRange<int>{0, 1000000});
  visit(
      Setting{
          "exact_heads", kMeasurementGroup,
          "largest number of heads for which all subsets of a layer are measured; larger layers "
          "are sampled"},
      options.exact_heads, NumberRange<int>{1, kMaxExactHeads});
  visit(
      Setting{"null_samples", kMeasurementGroup,
              "number of first samples whose heads are also measured with the weights of each row "
              "permuted among its allowed keys, to tell structure from chance; doubles the time of "
              "these samples. 0: no claims about pairs, better sets or other weights"},
      options.null_samples, NumberRange<int>{0, 1000000});
  visit(Setting{"precision", kMeasurementGroup,
                "standard error at which sampling stops, as a share of the value of all heads"},
        options.sampling.precision, NumberRange<double>{0.0, 1.0, true});
  visit(Setting{"orders", kMeasurementGroup,
                "limit on the random orders of heads drawn per sample of a sampled layer (drawn in "
                "whole balanced sets, at least eight)"},
        options.sampling.max_permutations, NumberRange<std::int64_t>{1, 1000000000});
}

/// Whether the loss is measured beside structure, as a user says it.
struct LossSettings {
  std::optional<LossChoice> loss;
  std::optional<Ablation> ablation;

  /// An ablation asks for the loss. UsageError where the loss is left out.
  LossOfHeadsOptions options() const {
    if (ablation && loss == LossChoice::kNo)
      throw UsageError(option_mark("ablation") + " needs the loss; leave out " +
                       option_mark("loss") + " no");
    return {ablation ? LossChoice::kYes : loss.value_or(LossChoice::kAuto),
            ablation.value_or(Ablation::kMean)};
  }
};

/// See Setting.
template <class Visit>
void visit_settings(LossSettings& settings, Visit&& visit) {
  visit(Setting{"loss", kMeasurementGroup,
                "whether to divide the loss of a checkpoint with a task among its heads, beside "
                "their structure: yes, no or auto, which measures up to 100000 subsets of heads on "
                "sequences (default: auto)"},
        settings.loss);
  visit(Setting{"ablation", kMeasurementGroup,
                "output of a head that is off, when the loss is measured: zero or mean, its mean "
                "over all tokens of all sequences; also asks for the loss (default: mean)"},
        settings.ablation);
}

/// How signals pass the layers.
enum class StackMethod {
  kSignal,   ///< with the weights of the heads
  kRollout,  ///< attention rollout: with equal weights, and a residual share of 0.5
  kFlow,     ///< as kSignal, and attention flow: the maximum flow of every token
};

template <>
inline constexpr NameTable<StackMethod, 3> kNamesOf<StackMethod>{
    {{StackMethod::kSignal, "signal"},
     {StackMethod::kRollout, "rollout"},
     {StackMethod::kFlow, "flow"}}};

/// How much a report says, as a user says it.
struct HeadTextSettings {
  bool verbose = false;
};

/// See Setting.
template <class Visit>
void visit_settings(HeadTextSettings& settings, Visit&& visit) {
  visit(Setting{"verbose", "Output", "also print the tables of every head and pair"},
        settings.verbose);
}

/// Whether and how signals are followed through all layers, as a user says it.
struct StackSettings {
  bool stack = false;
  std::optional<double> residual;
  std::optional<int> follow;  ///< a token
  std::optional<StackMethod> method;

  /// UsageError where one is set without `stack`, or what the edges measure.
  void check(const EdgeSettings& edges) const {
    if (!stack && (residual || follow || method))
      throw UsageError(option_mark("residual") + ", " + option_mark("follow") + " and " +
                       option_mark("method") + " need " + option_mark("stack"));
    if (residual && edges.kind() == EdgeKind::kContribution)
      throw UsageError(option_mark("residual") + ": " + option_mark("edges") +
                       " contribution measures the share of the residual; leave one of them out");
    if (method != StackMethod::kRollout) return;
    if (residual)
      throw UsageError(option_mark("method") + " rollout has the residual share 0.5; leave " +
                       option_mark("residual") + " out");
    if (edges.moved())
      throw UsageError(option_mark("method") + " rollout is defined for " + option_mark("edges") +
                       " attention");
  }

  /// How the stack is measured, but for the token that is followed. `from`: the sources that count.
  StackOptions options(const TokenChoice& from = {}) const {
    StackOptions options;
    options.from = from;
    options.residual = residual.value_or(options.residual);
    options.flow = method == StackMethod::kFlow;
    return options;
  }
};

/// See Setting.
template <class Visit>
void visit_settings(StackSettings& settings, Visit&& visit) {
  constexpr const char* kGroup = "Through the layers";
  visit(Setting{"stack", kGroup, "also follow signals through all layers, each applied once"},
        settings.stack);
  visit(Setting{"residual", kGroup,
                "share of the signal that bypasses the heads of each layer (default: 0.5)"},
        settings.residual, NumberRange<double>{0.0, 1.0});
  visit(
      Setting{"follow", kGroup,
              "token whose path through the heads is shown, counted from the first measured token "
              "(default: the weakest token of each sample)",
              "I"},
      settings.follow, NumberRange<int>{});
  visit(Setting{"method", kGroup,
                "signal: with the weights of the heads. rollout: attention rollout, with equal "
                "weights and residual 0.5. flow: also attention flow, the maximum flow of each "
                "token to the sink (default: signal)"},
        settings.method);
}

/// How signals are followed through all layers alone: sg_attention_stack().
struct SignalSettings {
  EdgeSettings edges;
  StackSettings through;
};

/// See Setting.
template <class Visit>
void visit_settings(SignalSettings& settings, Visit&& visit) {
  visit_settings(settings.edges, visit);
  visit_settings(settings.through, visit);
}

/// What heads are worth: sg_heads() and the command heads.
struct HeadsSettings {
  HeadsSettings() { head_values.device = kAutomatic; }

  MetricsSettings metrics;
  HeadValueOptions head_values;
  LossSettings loss;
  EdgeSettings edges;
  StackSettings through;
  HeadTextSettings text;

  /// How values are measured, of attention or of a graph. Weights that follow from what heads move
  /// are not searched for.
  HeadValueOptions value_options(bool graph) const {
    HeadValueOptions options = head_values;
    options.values = ordered_values(options.values);
    options.convention = metrics.resolve(metrics.convention.names.front(),
                                         graph ? graph_options : convention_options);
    if (edges.moved()) options.weight_samples = 0;
    return options;
  }
};

/// See Setting.
template <class Visit>
void visit_settings(HeadsSettings& settings, Visit&& visit) {
  // No value of heads depends on a mixing time.
  const auto used = [&visit](const Setting& setting, auto&&... rest) {
    if (setting.key != kEpsSetting.key) visit(setting, rest...);
  };
  visit_settings(settings.metrics, used);
  visit_settings(settings.head_values, visit);
  visit_settings(settings.loss, visit);
  visit_settings(settings.edges, visit);
  visit_settings(settings.through, visit);
  visit_settings(settings.text, visit);
  visit(measuring_device_setting(kMeasurementGroup, face::kLibrary), settings.head_values.device);
}

}  // namespace synergraph
