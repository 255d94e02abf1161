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
  TokenChoice from;
  std::optional<Horizon> horizon;
  std::vector<double> eps = {0.25};
  std::int64_t cutoff = 100;
  std::int64_t step_limit = 0;  ///< 0: none

  /// A convention with these settings over `options_of` it: convention_options or graph_options.
  MetricsOptions resolve(Convention of, MetricsOptions (*options_of)(Convention)) const;
};

/// Returns the settings that say these options in full, but for the convention.
MetricsSettings settings_of(const MetricsOptions& options);

inline constexpr const char* kMeasurementGroup = "Measurement";
inline constexpr Setting kEpsSetting{
    "eps", kMeasurementGroup,
    "threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01)"};
inline constexpr Setting kCutoffSetting{"cutoff", kMeasurementGroup,
                                        "cutoff for truncated hitting times, in steps"};

/// Of MetricsOptions::backward.
inline constexpr Setting kBackwardSetting{
    "backward", kMeasurementGroup,
    "also measure averaged mixing times, the backward walk to the first token, and how close "
    "fidelity comes to its bound; the CPU measures these numbers"};

/// See Setting.
template <class Visit>
void visit_settings(MetricsSettings& settings, Visit&& visit) {
  visit(
      Setting{
          "convention", kMeasurementGroup,
          "definitions to measure by. exact: normalised walk, and certified fidelity over the "
          "sources. published: as for the paper's tables (walk not normalised, fidelity over all "
          "nodes and 100 steps)"},
      settings.convention);
  visit(Setting{"normalization", kMeasurementGroup,
                "how the heads are combined into one walk: per-head (as in the theory), pooled, or "
                "published (default: pooled; per-head for graphs; published with the published "
                "convention)"},
        settings.normalization);
  visit(
      Setting{
          "nodes", kMeasurementGroup,
          "nodes that count for the minimax fidelity: sources or all (default: sources; with the "
          "published convention: all)"},
      settings.nodes);
  visit(Setting{.key = "from_tokens",
                .group = kMeasurementGroup,
                .help = "tokens whose fidelity counts, counted from the first measured token: such "
                        "as 5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, "
                        "the weakest counts (default: all nodes)",
                .value = "TOKENS"},
        settings.from);
  visit(Setting{"horizon", kMeasurementGroup,
                "number of diffusion steps to search, or 'certified': as many as the proof needs "
                "(default: certified; 100 with the published convention)",
                "N|certified"},
        settings.horizon);
  visit(kEpsSetting, settings.eps, kThresholdRange);
  visit(kCutoffSetting, settings.cutoff, kStepRange);
  visit(
      Setting{
          "step_limit", kMeasurementGroup,
          "limit on diffusion steps; a fidelity that is not certified by then is reported as an "
          "interval. 0: no limit, later steps are searched by squaring"},
      settings.step_limit, NumberRange<std::int64_t>{0, 1000000000000});
}

/// Calls link(setting, option) for each setting and the option that it sets, but for the
/// convention. Options are resolved and documents echo them by these pairs.
template <class Settings, class Options, class Link>
void link_options(Settings& settings, Options& options, const Link& link) {
  link(settings.normalization, options.normalization);
  link(settings.nodes, options.fidelity.nodes);
  link(settings.from, options.fidelity.from);
  link(settings.horizon, options.fidelity.horizon);
  link(settings.eps, options.walk.eps);
  link(settings.cutoff, options.walk.cutoff);
  link(settings.step_limit, options.fidelity.step_limit);
}

}  // namespace synergraph
#pragma GCC visibility pop
