#pragma once

#include <optional>
#include <string>

#include "synergraph/analysis/head_losses.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {

/// See Setting. The convention is set by MetricsSettings.
template <class Visit>
void visit_settings(HeadValueOptions& options, Visit&& visit) {
  constexpr const char* kGroup = "Measurement";
  visit(
      Setting{"values", kGroup,
              "value to measure for every set of heads: fidelity, speed or both (the program takes "
              "fidelity,speed)"},
      options.values);
  visit(Setting{"keep", kGroup, "share of the value of all heads that the smallest subset keeps"},
        options.keep, NumberRange<double>{0.0, 1.0});
  visit(Setting{"weight_samples", kGroup,
                "number of first samples used to search for the best weights, and for the best "
                "subsets of sampled layers; 0: no search for weights"},
        options.weight_samples, NumberRange<int>{0, 1000000});
  visit(
      Setting{"null_samples", kGroup,
              "number of first samples whose heads are also measured with the weights of each row "
              "permuted, to tell structure from chance; doubles the time of these samples. 0: no "
              "claims about pairs, better sets or other weights"},
      options.null_samples, NumberRange<int>{0, 1000000});
  visit(
      Setting{
          "exact_heads", kGroup,
          "largest number of heads for which all subsets of a layer are measured; larger layers "
          "are sampled"},
      options.exact_heads, NumberRange<int>{1, kMaxExactHeads});
  visit(Setting{"precision", kGroup,
                "standard error at which sampling stops, as a share of the value of all heads"},
        options.sampling.precision, NumberRange<double>{0.0, 1.0, true});
  visit(Setting{"orders", kGroup,
                "limit on the random orders of heads drawn per sample of a sampled layer (drawn in "
                "whole balanced sets, at least eight)"},
        options.sampling.max_permutations, NumberRange<std::int64_t>{1, 1000000000});
}

/// Whether the loss is measured beside structure, as a user says it.
struct LossSettings {
  std::optional<LossChoice> loss;

  LossChoice choice() const { return loss.value_or(LossChoice::kAuto); }
};

/// See Setting.
template <class Visit>
void visit_settings(LossSettings& settings, Visit&& visit) {
  visit(Setting{"loss", "Measurement",
                "whether to divide the loss of a checkpoint with a task among its heads, beside "
                "their structure: yes, no or auto, which measures up to 100000 subsets of heads on "
                "sequences (default: auto)"},
        settings.loss);
}

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

  /// UsageError where one is set without `stack`; `name` spells a key.
  template <class Name>
  void check(const Name& name) const {
    if (!stack && (residual || follow))
      throw UsageError(std::string(name("residual")) + " and " + std::string(name("follow")) +
                       " need " + std::string(name("stack")));
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

}  // namespace synergraph
