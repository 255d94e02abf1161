#pragma once

#include <optional>
#include <string>

#include "synergraph/analysis/head_values.h"
#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/metrics_settings.h"

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
  visit(Setting{"precision", kMeasurementGroup,
                "standard error at which sampling stops, as a share of the value of all heads"},
        options.sampling.precision, NumberRange<double>{0.0, 1.0, true});
  visit(Setting{"orders", kMeasurementGroup,
                "limit on the random orders of heads drawn per sample of a sampled layer (drawn in "
                "whole balanced sets, at least eight)"},
        options.sampling.max_permutations, NumberRange<std::int64_t>{1, 1000000000});
}

/// Whether and how signals are followed through all layers, as a user says it.
struct StackSettings {
  bool stack = false;
  std::optional<double> residual;
  std::optional<int> follow;  ///< a token

  /// UsageError where one is set without `stack`.
  void check() const {
    if (!stack && (residual || follow))
      throw UsageError(option_mark("residual") + " and " + option_mark("follow") + " need " +
                       option_mark("stack"));
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
}

/// What heads are worth: sg_heads() and the command heads.
struct HeadsSettings {
  MetricsSettings metrics;
  HeadValueOptions head_values;
  StackSettings through;
};

/// See Setting.
template <class Visit>
void visit_settings(HeadsSettings& settings, Visit&& visit) {
  visit_settings(settings.metrics, visit);
  visit_settings(settings.head_values, visit);
  visit_settings(settings.through, visit);
}

}  // namespace synergraph
