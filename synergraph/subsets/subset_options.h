#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "synergraph/core/execution.h"
#include "synergraph/core/names.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a value of a set of heads measures (theory: "Subsets of heads"). Values go from 0, the
/// value of no head, to 1.
enum class HeadValue {
  kFidelity,  ///< the minimax fidelity of the heads together
  kSpeed,  ///< the share of time saved: 1 - E[min(T, M)] / M, cutoff M, mean over all start nodes
  /// Loss of the model without any head of the layer, minus its loss with these heads. Only
  /// value_games() has this value: it is no setting.
  kLoss,
};

template <>
inline constexpr NameTable<HeadValue, 2> kNamesOf<HeadValue>{
    {{HeadValue::kFidelity, "fidelity"}, {HeadValue::kSpeed, "speed"}}};
constexpr std::string_view name_of(HeadValue value) {
  return value == HeadValue::kLoss ? "loss" : find_name(kNamesOf<HeadValue>, value);
}

/// Which values of subsets are measured, and how.
struct SubsetOptions {
  MetricsOptions convention = convention_options(Convention::kExact);
  bool fidelity = true;
  bool speed = true;
  /// With little memory, fewer partial sums are kept. The heads themselves always stay in memory.
  Execution execution = {};
  /// Called from time to time with the number of finished subsets, by one thread at a time.
  std::function<void(std::uint64_t done)> subsets_done = nullptr;
};

/// The values of one subset; 0 for a value that was not requested.
struct SubsetValue {
  double fidelity = 0.0;
  /// Upper bound; above `fidelity` where the fidelity is not certified.
  double fidelity_upper = 0.0;
  double speed = 0.0;
};

}  // namespace synergraph
#pragma GCC visibility pop
