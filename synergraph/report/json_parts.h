#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/heads/synergy.h"

namespace synergraph {

/// A number for a JSON document. JSON has neither infinity nor NaN: both are null
/// (docs/formats.md).
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// How something was measured: the `settings` of every document that reports metrics.
inline nlohmann::ordered_json json_settings(const MetricsOptions& options) {
  using nlohmann::ordered_json;
  return {{"normalization", name_of(options.normalization)},
          {"cutoff", options.walk.cutoff},
          {"eps", options.walk.eps},
          {"fidelity_nodes", name_of(options.fidelity.nodes)},
          {"horizon", options.fidelity.horizon == 0 ? ordered_json("certified")
                                                    : ordered_json(options.fidelity.horizon)}};
}

}  // namespace synergraph
