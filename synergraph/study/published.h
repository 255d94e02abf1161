#pragma once

#include <optional>
#include <string_view>
#include <vector>

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

/// What the paper's appendix prints, layers counted from 0; nothing where it has no such cell.
std::optional<PublishedValue> published_mixing_time(std::string_view task, int heads, int layer);
/// Minimax fidelity in per cent, printed with two decimals.
std::optional<PublishedValue> published_fidelity(std::string_view task, int heads, int layer);
std::optional<PublishedComparison> published_comparison(std::string_view task, int heads,
                                                        int layer);

/// Sequences behind every published mean.
inline constexpr int kPublishedSamples = 50;
/// Half a unit in the last printed place.
inline constexpr double kMixingTimeRounding = 0.00005;
inline constexpr double kFidelityRounding = 0.005;
/// The tasks, head counts and layers of the published tables.
inline const std::vector<std::string_view> kPublishedTasks = {"copy", "cycle"};
inline const std::vector<int> kPublishedHeads = {1, 4, 8, 16};
inline constexpr int kPublishedLayers = 4;

}  // namespace synergraph
