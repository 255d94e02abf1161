#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capi/arrays.h"
#include "capi/attention.h"
#include "capi/options.h"
#include "synergraph/analysis/system_settings.h"
#include "synergraph/heads/measure.h"

namespace synergraph::capi {

/// How one layer on one sample is measured, and what its heads and nodes are called.
struct SystemRequest {
  /// Takes SystemSettings. UsageError if the layer is not there.
  SystemRequest(const sg_attention& attention, std::int64_t layer, Options& options);

  /// Measures heads in memory or from their source, each head's numbers being taken from `measured`
  /// if that is there.
  GraphReport measure(HeadSource& heads, const Execution& execution,
                      const std::vector<HeadsMetrics>* measured = nullptr) const;
  /// UsageError unless there is a name for every node of a sample; numbers where none was given.
  std::vector<std::string> names_of_nodes(int nodes) const;

  MetricsOptions convention;
  EdgeSettings edges;
  std::vector<std::string> head_names;
  std::vector<std::string> node_names;  ///< none: numbers
  std::vector<double> weights;          ///< normalised
};

/// What sg_system_curves() computes.
SystemArrays curves_of(HeadSource& heads, const SystemRequest& request,
                       const CurveSettings& settings, const Execution& execution);

}  // namespace synergraph::capi
