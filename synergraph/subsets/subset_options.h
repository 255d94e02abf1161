#pragma once

#include <cstdint>
#include <functional>

#include "synergraph/core/execution.h"
#include "synergraph/core/names.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a set of heads is worth (theory: "Subsets of heads"), from 0, the value of no head, to 1.
enum class HeadValue {
  kFidelity,  ///< the minimax fidelity of the heads together
  kSpeed,     ///< 1 - E[min(T, M)] / M, cutoff M, mean over all start nodes: the time that is saved
};

template <>
inline constexpr NameTable<HeadValue, 2> kNamesOf<HeadValue>{
    {{HeadValue::kFidelity, "fidelity"}, {HeadValue::kSpeed, "speed"}}};

/// What is measured of subsets, and how.
struct SubsetOptions {
  MetricsOptions convention = convention_options(Convention::kExact);
  bool fidelity = true;
  bool speed = true;
  /// Where memory is short, fewer partial sums are kept; the heads themselves are in memory anyway.
  Execution execution = {};
  /// Called now and then with the number of subsets done, by one thread at a time.
  std::function<void(std::uint64_t done)> subsets_done = nullptr;
};

/// The values of one subset; 0 where they were not asked for.
struct SubsetValue {
  double fidelity = 0.0;
  double fidelity_upper = 0.0;  ///< above `fidelity` where that is not certified: an interval
  double speed = 0.0;
};

}  // namespace synergraph
#pragma GCC visibility pop
