#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "synergraph/heads/head.h"

namespace synergraph::testing_support {

/// out += factor * (row * diffusion), the row vector times a lower triangular matrix.
inline void add_product(const std::vector<double>& row, const Matrix& diffusion, double factor,
                        std::vector<double>& out) {
  for (int i = 0; i < diffusion.rows(); ++i) {
    const double amount = factor * row[static_cast<std::size_t>(i)];
    if (amount == 0.0) continue;
    const double* from = diffusion.row(i);
    for (int j = 0; j <= i; ++j) out[static_cast<std::size_t>(j)] += amount * from[j];
  }
}

/// The signal at the sink after t steps, split by the paths that carry it (theory: "Cross-head
/// pathway contribution"). All three are computed independently, from non-negative sums.
struct CrossHead {
  std::vector<double> whole;  ///< (D^t)(sink, j) of the combined diffusion
  std::vector<double> pure;   ///< sum_h w_h^t (D_h^t)(sink, j): paths that stay in one head
  std::vector<double> cross;  ///< paths that change head at least once

  /// The share of node j's signal that changes head; NaN where there is no signal.
  double share(int j) const {
    const auto at = static_cast<std::size_t>(j);
    if (!(whole[at] > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    return cross[at] / (cross[at] + pure[at]);
  }
};

/// The split of all nodes' signals after `steps` >= 0 steps, one step after the other.
inline CrossHead cross_head(const std::vector<Head>& heads, const std::vector<double>& weights,
                            std::int64_t steps) {
  const Matrix combined = combine_diffusion(heads, weights);
  const auto n = static_cast<std::size_t>(combined.rows());
  const std::vector<double> zero(n, 0.0);
  std::vector<double> whole = zero;
  whole.back() = 1.0;
  if (steps == 0) return {whole, whole, zero};

  // pure[h]: paths in head h only; the first step chooses the head.
  std::vector<std::vector<double>> pure(heads.size(), whole);
  std::vector<double> cross = zero;
  for (std::int64_t t = 0; t < steps; ++t) {
    std::vector<double> next = zero;
    add_product(whole, combined, 1.0, next);
    whole = next;

    // A cross path stays one. A pure path becomes one by a step in any other head: for head h those
    // are the pure paths of the heads before it and after it, summed from both ends to avoid a
    // subtraction.
    next = zero;
    add_product(cross, combined, 1.0, next);
    if (t > 0) {
      std::vector<std::vector<double>> after(heads.size(), zero);
      for (std::size_t h = heads.size() - 1; h > 0; --h)
        for (std::size_t j = 0; j < n; ++j) after[h - 1][j] = after[h][j] + pure[h][j];
      std::vector<double> others = zero;  // pure paths of the heads before h
      for (std::size_t h = 0; h < heads.size(); ++h) {
        for (std::size_t j = 0; j < n; ++j) after[h][j] += others[j];
        add_product(after[h], heads[h].diffusion, weights[h], next);
        for (std::size_t j = 0; j < n; ++j) others[j] += pure[h][j];
      }
    }
    cross = next;

    for (std::size_t h = 0; h < heads.size(); ++h) {
      next = zero;
      add_product(pure[h], heads[h].diffusion, weights[h], next);
      pure[h] = next;
    }
  }
  CrossHead result{std::move(whole), zero, std::move(cross)};
  for (const std::vector<double>& part : pure)
    for (std::size_t j = 0; j < n; ++j) result.pure[j] += part[j];
  return result;
}

}  // namespace synergraph::testing_support
