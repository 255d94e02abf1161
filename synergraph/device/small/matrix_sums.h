#pragma once

#include <cmath>

#include "synergraph/chain/mixing_rules.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/device/small/matrix_measurement.h"
#include "synergraph/device/small/solves.h"

// Sums of rows and columns, what the published walk cuts, and hitting times.

namespace synergraph::small {

/// Sums of a row without its diagonal, and of a column: n numbers for every thread.
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::sum_rows_and_columns() {
  const double* a = memory_.matrix;
  each([&](int j, Node&) {
    const double* row = a + triangle_of(j);
    memory_.down[j] = sum_of(j, [&](int k) { return row[k]; });
    memory_.forward[j] = sum_of(n_ - 1 - j, [&](int k) { return a[triangle_of(n_ - 1 - k) + j]; });
    memory_.mass[j] = memory_.forward[j] + row[j];
  });
}

/// Where every node but the first passes something on, all ends at the first. What keeps a part for
/// good is for the CPU, and what passes on so little that digits would be lost.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::check_signal() {
  int trouble = 0;
  each([&](int j, Node&) {
    const double down = memory_.down[j];
    if (j == 0) return;
    if (!fixed() && !(down > 0.0))
      trouble |= kKeepsSignal;
    else if (down > 0.0 && !in_safe_range(down))
      trouble |= kOutOfRange;
  });
  return trouble;
}

/// Rows of the published walk, each a column of the matrix, which become what they are cut to: see
/// published_walk().
template <class Team>
SYNERGRAPH_HD_INLINE void MatrixMeasurement<Team>::cut_columns() {
  double* a = memory_.matrix;
  each([&](int j, Node&) {
    const double own = a[triangle_of(j) + j];
    const double rest = memory_.down[j];
    const bool slow = own > 0.5 && fabs(rest + own - 1.0) <= 1e-12;
    double reached = slow ? 0.0 : own;
    const double whole = slow ? rest : 1.0;
    double leave = 0.0;
    if (j < sink()) a[triangle_of(j) + j] = own < 1.0 ? own : 1.0;
    for (int i = j + 1; i < n_; ++i) {
      double& weight = a[triangle_of(i) + j];
      const double left = reached < whole ? whole - reached : 0.0;
      reached += weight;
      weight = weight < left ? weight : left;
      leave += weight;
    }
    const double missing = reached < whole ? whole - reached : 0.0;
    if (j < sink()) a[triangle_of(sink()) + j] += missing;
    memory_.forward[j] = slow ? rest : leave + missing;
    memory_.mass[j] = 1.0;
  });
}

/// Factors of the survivals.
template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::set_walk(bool in_columns) {
  int trouble = 0;
  each([&](int j, Node& node) {
    const double mass = memory_.mass[j];
    if (in_columns && mass > 0.0 && !in_safe_range(mass)) trouble |= kOutOfRange;
    node.scale = j < sink() && memory_.forward[j] > 0.0 ? 1.0 / mass : 0.0;
  });
  return trouble;
}

template <class Team>
SYNERGRAPH_HD_INLINE int MatrixMeasurement<Team>::measure_hitting(Result& result) {
  const double leave = least([&](int j, Node&) {
    return j < sink() ? (memory_.forward[j] > 0.0 ? memory_.forward[j] / memory_.mass[j] : 0.0)
                      : INFINITY;
  });
  first_moving_ = static_cast<int>(least([&](int j, Node&) {
    return j == sink() || memory_.forward[j] > 0.0 ? static_cast<double>(j) : INFINITY;
  }));
  if (team_.rank() == 0) result.forward_probability = leave;
  if (task_.eps == 0) return 0;
  if (team_.group() == 0) {
    const Hitting hitting =
        solve_hitting(team_, memory_.matrix, memory_.mass, memory_.forward, n_, memory_.hitting);
    if (team_.lane() == 0) {
      result.hitting_mean = hitting.sum / n_;
      result.hitting_max = hitting.max;
      result.hitting_worst = hitting.worst;
      memory_.exchange[0] = hitting.overflow ? NAN : hitting.max;
    }
  }
  team_.sync();
  const double max = memory_.exchange[0];
  team_.sync();
  if (!(max >= 0.0)) return kOutOfRange;
  never_ = max == INFINITY;
  for (int k = 0; k < task_.eps && !never_; ++k) {
    mixing_rules::Threshold threshold;
    threshold.value = task_.threshold[k];
    slow_ = slow_ || !mixing_rules::stepping_pays(threshold, max, n_);
  }
  return 0;
}

}  // namespace synergraph::small
