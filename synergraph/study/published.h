#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "synergraph/heads/quantity.h"
#include "synergraph/model/config.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A published mean and its standard deviation over 50 sequences.
struct PublishedValue {
  double mean = 0.0;
  double std = 0.0;
};

/// Best head against all heads together on one sequence: minimax fidelity in per cent.
struct PublishedComparison {
  double individual = 0.0;
  double combined = 0.0;
};

/// What the paper's appendix tabulates: mixing time and, in per cent, fidelity.
inline constexpr std::array<Quantity, 2> kPublishedQuantities = {Quantity::kTruncatedHittingMean,
                                                                 Quantity::kMinimaxFidelity};

/// What it prints, layers counted from 0; nothing where it has no such cell.
std::optional<PublishedValue> published_value(const Quantity& quantity, std::string_view task,
                                              int heads, int layer);
std::optional<PublishedComparison> published_comparison(std::string_view task, int heads,
                                                        int layer);

/// Sequences behind every published mean.
inline constexpr int kPublishedSamples = 50;
/// A unit of ours in the paper's, which prints fidelities in per cent.
inline double published_unit(const Quantity& quantity) {
  return quantity.is_time() ? 1.0 : 100.0;
}
/// The decimals that it prints, and half a unit in the last of them.
inline int published_decimals(const Quantity& quantity) {
  return quantity.is_time() ? 4 : 2;
}
inline double published_rounding(const Quantity& quantity) {
  return quantity.is_time() ? 0.00005 : 0.005;
}
/// The tasks, head counts and layers of the published tables.
inline const std::vector<std::string_view> kPublishedTasks = {"copy", "cycle"};
inline const std::vector<int> kPublishedHeads = {1, 4, 8, 16};
inline constexpr int kPublishedLayers = 4;

/// Whether a model has the sizes of the paper's, whatever its number of heads.
bool has_published_size(ModelConfig config);

}  // namespace synergraph
#pragma GCC visibility pop
