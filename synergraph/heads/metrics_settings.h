#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synergraph/core/setting.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The conventions to measure by.
struct ConventionChoice {
  std::vector<Convention> names = {Convention::kExact};
  bool several = false;  ///< both may be asked for
};

/// Diffusion steps that are looked at.
struct Horizon {
  std::int64_t steps = 0;  ///< 0: as many as certify the result
};

/// How to measure, as a user says it: a convention, and what differs from it.
struct MetricsSettings {
  ConventionChoice convention;
  std::optional<Normalization> normalization;
  std::optional<FidelityNodes> nodes;
  std::optional<Horizon> horizon;
  std::vector<double> eps = {0.25};
  std::int64_t cutoff = 100;
  std::int64_t step_limit = 0;  ///< 0: none

  /// A convention with these settings over `options_of` it: convention_options or graph_options.
  MetricsOptions resolve(Convention of, MetricsOptions (*options_of)(Convention)) const;
};

/// See Setting.
template <class Visit>
void visit_settings(MetricsSettings& settings, Visit&& visit) {
  constexpr const char* kGroup = "Measurement";
  visit(
      Setting{
          "convention", kGroup,
          "exact: certified fidelity over the sources, and steps that sum to one. published: as "
          "the paper's tables were computed (walk that is not normalised, all nodes, 100 steps)"},
      settings.convention);
  visit(
      Setting{
          "normalization", kGroup,
          "how heads become a walk: per-head (as in the theory), pooled, or published (default: "
          "pooled, for graphs per-head; with the published convention: published)"},
      settings.normalization);
  visit(
      Setting{
          "nodes", kGroup,
          "nodes that count for the minimax fidelity: sources or all (default: sources; with the "
          "published convention: all)"},
      settings.nodes);
  visit(
      Setting{"horizon", kGroup,
              "number of diffusion steps to look at, or 'certified' (default: certified; with the "
              "published convention: 100)",
              "N|certified"},
      settings.horizon);
  visit(Setting{"eps", kGroup, "thresholds of T_mix, separated by commas"}, settings.eps,
        kThresholdRange);
  visit(Setting{"cutoff", kGroup, "cutoff for truncated hitting times, in steps"}, settings.cutoff,
        kStepRange);
  visit(
      Setting{
          "step_limit", kGroup,
          "diffusion steps after which an uncertified fidelity is reported as an interval; 0: no "
          "limit, later steps are searched by squaring"},
      settings.step_limit, NumberRange<std::int64_t>{0, 1000000000000});
}

}  // namespace synergraph
#pragma GCC visibility pop
