#include "synergraph/heads/metrics_settings.h"

namespace synergraph {

MetricsOptions MetricsSettings::resolve(Convention of,
                                        MetricsOptions (*options_of)(Convention)) const {
  MetricsOptions options = options_of(of);
  options.normalization = normalization.value_or(options.normalization);
  options.fidelity.nodes = nodes.value_or(options.fidelity.nodes);
  options.fidelity.from = from;
  if (horizon) options.fidelity.horizon = horizon->steps;
  options.walk.eps = eps;
  options.walk.cutoff = cutoff;
  if (step_limit > 0) options.fidelity.step_limit = step_limit;
  return options;
}

MetricsSettings settings_of(const MetricsOptions& options) {
  const bool limited = options.fidelity.step_limit < FidelityOptions().step_limit;
  MetricsSettings settings;
  settings.normalization = options.normalization;
  settings.nodes = options.fidelity.nodes;
  settings.from = options.fidelity.from;
  settings.horizon = Horizon{options.fidelity.horizon};
  settings.eps = options.walk.eps;
  settings.cutoff = options.walk.cutoff;
  settings.step_limit = limited ? options.fidelity.step_limit : 0;
  return settings;
}

}  // namespace synergraph
