#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "synergraph/heads/attention_source.h"

namespace synergraph {

/// How a figure calls its layers.
struct LayerLabels {
  std::vector<std::string> tics;  ///< one a layer, printable and short
  std::string axis;               ///< what all have in common
};

/// The layers' names, or `names` if there are any. Names that differ in a number alone are shown as
/// that number, the rest of them beside the axis. Layers of different lengths say theirs.
LayerLabels layer_labels(const std::vector<AttentionLayer>& layers,
                         const std::vector<std::string>& names);

/// "3" or "3 to 5": a count of every layer's.
std::string count_range(const std::vector<AttentionLayer>& layers, int AttentionLayer::*count);

}  // namespace synergraph
